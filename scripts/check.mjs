// `npm run check`: every gate that runs no product code. Each one must prove that it looked at something.
import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { bin, ensureInstalled, root } from './install.mjs'

const gates = [
  gate('format and lint', 'biome', ['check', '--error-on-warnings', '.'], /Checked [1-9]\d+ files/),
  gate('types', 'tsc', ['-b', '--verbose'], /Project '.*core.*' is/),
  gate('types of tests', 'tsc', ['-p', 'tsconfig.test.json', '--listFiles'], /core\/src\/.*\.test\.ts/),
  gate('architecture', 'vitest', ['run', '--project', 'unit', 'test/architecture.test.ts'], /[1-9]\d* passed/),
  gate('unused code', 'knip', ['--no-progress', '--performance'], /Total running time/),
  ...['core', 'server', 'react', 'cli'].map((name) =>
    gate(`package ${name}`, 'publint', ['--strict', `packages/${name}`], /Running publint .* for/),
  ),
]

function gate(name, command, args, saw) {
  return { name, command: bin(command), args, saw }
}

/** Runs every gate but those that the caller runs itself, one after the other; one line each. */
export async function check(without = []) {
  const results = []
  for (const { name, command, args, saw } of gates.filter((each) => !without.includes(each.name))) {
    const started = performance.now()
    const { status, output } = await run(command, args)
    const looked = saw.test(output)
    const ok = status === 0 && looked
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  (${((performance.now() - started) / 1000).toFixed(1)} s)`)
    // `--listFiles` prints a thousand paths after the errors.
    if (!ok)
      console.log(
        output.replace(/^\/\S+\.[cm]?tsx?\n/gm, '').slice(-12_000),
        looked ? '' : '\nThis gate looked at nothing.',
      )
    results.push({ name, ok })
  }
  return results
}

function run(command, args) {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' }
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: 64 << 20, env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : 1, output: `${stdout}${stderr}${error?.message ?? ''}` }),
    )
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureInstalled()
  process.exitCode = (await check()).every(({ ok }) => ok) ? 0 : 1
}
