// `npm run check`: every gate that runs no product code. Each one must prove that it looked at something.
import { spawnSync } from 'node:child_process'
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

/** Runs every gate; one line each. */
export function check() {
  return gates.map(({ name, command, args, saw }) => {
    const started = performance.now()
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' }
    const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, env })
    const output = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`
    const looked = saw.test(output)
    const ok = result.status === 0 && looked
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  (${((performance.now() - started) / 1000).toFixed(1)} s)`)
    if (!ok) console.log(output.slice(-12_000), looked ? '' : '\nThis gate looked at nothing.')
    return { name, ok }
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureInstalled()
  process.exitCode = check().every(({ ok }) => ok) ? 0 : 1
}
