import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { detectDialect, type Recorded } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { type CommandOptions, type Ended, endOf, person, runCommand, startCommand } from '../kit/command.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-cli-agents-'))
const data = join(root, 'data')
const quick = { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' }
let served: Served
beforeAll(async () => {
  served = await serveBuilt(['--port', '0', '--data-dir', join(root, 'served'), ...oneProcess], quick)
})
afterAll(async () => {
  await served.kill()
  rmSync(root, { recursive: true, force: true })
})

const millrace = (args: readonly string[], options: CommandOptions = {}): Promise<Ended> =>
  runCommand(args, { env: quick, cwd: root, ...options })
/** The same, as far as a line that is cut shows it: the longer its time, the earlier it is cut. */
function alike(one: string, other: string): boolean {
  const [a, b] = [one, other].map((line) => line.replace(/.{2}…$/, ''))
  return (
    one === other ||
    (other.endsWith('…') && one.endsWith('…') && (a?.startsWith(b ?? '') || b?.startsWith(a ?? '')) === true)
  )
}

const onServer = (...args: readonly string[]): Promise<Ended> => millrace([...args, '--server', served.address])

describe('millrace run', () => {
  test('writes a run by author, with tool lines, and sums it up beside the output', async () => {
    const [local, remote, coloured] = await Promise.all([
      millrace(['run', 'assistant', 'What is the weather in Lisbon?']),
      onServer('run', 'assistant', 'What is the weather in Lisbon?'),
      onServer('run', 'assistant', 'What is the weather in Lisbon?').then(() =>
        millrace(['run', 'assistant', 'Hello', '--server', served.address], { tty: true }),
      ),
    ])
    expect([local.code, remote.code, coloured.code]).toEqual([0, 0, 0])
    expect(local.out).toMatch(
      /^assistant\n {2}→ get_weather {2}\{"city":"Lisbon"\}\n {2}← get_weather \d+ ms {2}\{"city":"Lisbon"/,
    )
    expect(local.out).toContain('12 to 20 °C')
    expect(local.err).toMatch(
      /^\ndone in .* · 2 model calls · \d+ tokens \(\d+ in, \d+ out\) · offline model, no cost\n$/,
    )
    expect(remote.out.replaceAll(/\d+ ms/g, '')).toBe(local.out.replaceAll(/\d+ ms/g, ''))
    expect(local.out).not.toContain('\u001b')
    expect(coloured.out).toContain('\u001b[1massistant')
  })

  test('the recording in the README is what a run prints', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const [, block = ''] = /^```text\n\$ millrace run [^\n]*\n([\s\S]*?)^```/m.exec(readme) ?? []
    const { out, err } = await onServer('run', 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
    const timeless = (text: string): readonly string[] => text.replaceAll(/\d+(\.\d)? m?s\b/g, 'T').split('\n')
    const printed = timeless(out + err)
    const shown = timeless(block).filter((line) => line !== '[…]' && line !== '')
    expect(shown.length).toBeGreaterThan(15)
    expect(shown.filter((line) => !printed.some((one) => alike(one, line)))).toEqual([])
  })

  test('a question is answered by --answer or by a person; else the exit code is 3', async () => {
    const ask = ['run', 'assistant', 'Delete all proverbs', '--server', served.address]
    const [open, given, typed] = await Promise.all([
      millrace(ask),
      millrace([...ask, '--answer', 'y']),
      millrace(ask, { stdin: 'n\n', tty: person }),
    ])
    expect([open.code, given.code, typed.code]).toEqual([3, 0, 0])
    expect(open.err).toContain('? The list is empty. Delete all proverbs anyway? [y/n]\n')
    expect(open.err).toMatch(/The agent waits for an answer, in the session [\w-]+: .*--answer/)
    expect(given.out).toContain('Done: 0 proverbs deleted.')
    expect(typed.err).toContain('Delete all proverbs anyway? [y/n]')
    expect(typed.out).toContain('nothing was deleted')
    const asked = startCommand(ask, { cwd: root, tty: person })
    const ended = endOf(asked)
    let said = ''
    await new Promise<void>((resolve) => {
      asked.stderr.on('data', (text: string) => {
        said += text
        if (said.includes('anyway? [y/n]')) resolve()
      })
    })
    asked.kill('SIGINT')
    const left = await ended
    expect([left.code, left.err]).toEqual([130, expect.not.stringContaining('run it in a terminal')])
  })

  test('prints a wire, or the events; a prompt may be piped in', async () => {
    const [wire, json] = await Promise.all([
      onServer('run', 'assistant', 'Hello', '--dialect', 'ag-ui'),
      millrace(['run', 'assistant', '--json', '--server', served.address], { stdin: 'Hello\n' }),
    ])
    expect([wire.code, json.code]).toEqual([0, 0])
    expect(detectDialect(wire.out)).toBe('ag-ui')
    expect(wire.out).toContain('RUN_FINISHED')
    const rows = json.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded)
    expect(rows[0]?.event).toMatchObject({
      kind: 'run.started',
      input: { messages: [{ content: { parts: [{ text: 'Hello' }] } }] },
    })
    expect(rows.at(-1)?.event).toMatchObject({ kind: 'run.finished', outcome: 'done' })
  })

  test('Ctrl-C cancels the run, and the log says so; a reader that leaves is no failure', async () => {
    // This agent says that it waits, and then does so without an end.
    const agents = fileURLToPath(new URL('../kit/ag-ui-agents/', import.meta.url))
    const child = startCommand(
      ['run', 'desk', 'wait: for ever', '--agents', agents, '--data-dir', data, '--session', 's'],
      { env: quick, cwd: root },
    )
    const ended = endOf(child)
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const { code, err } = await ended
    expect([code, err]).toEqual([130, expect.stringMatching(/^\ncancelled in /)])
    const log = await millrace(['sessions', 'export', 's', '--data-dir', data])
    expect(JSON.parse(log.out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      event: { kind: 'run.finished', outcome: 'cancelled' },
    })
    const left = startCommand(['run', 'assistant', 'Count slowly to 200', '--server', served.address], {
      env: quick,
      cwd: root,
    })
    left.stdout.destroy()
    const [after] = (await once(left, 'exit')) as [number]
    expect(after).toBe(0)
  })

  test('a failed run has the exit code 1, and what is wrong is one sentence', async () => {
    mkdirSync(join(root, 'broken/sick'), { recursive: true })
    writeFileSync(join(root, 'broken/sick/agent.ts'), 'export const rootAgent = 5\n')
    const [failed, unknown, dead, broken, nothing, option] = await Promise.all([
      onServer('run', 'assistant', 'Simulate a model failure'),
      onServer('run', 'nobody', 'Hello'),
      millrace(['run', 'assistant', 'Hello', '--server', 'http://127.0.0.1:1']),
      millrace(['run', 'sick', 'Hello', '--agents', 'broken']),
      millrace(['run', 'assistant']),
      millrace(['run', 'assistant', 'Hello', '--dialect', 'klingon']),
    ])
    expect([failed, unknown, dead, broken, nothing, option].map(({ code }) => code)).toEqual([1, 1, 1, 1, 2, 2])
    expect(failed.err).toMatch(/\nfailed in .*\n.+\n$/)
    expect(unknown.err).toBe('millrace: there is no agent nobody; known: assistant, planner, recovery, research\n')
    expect(dead.err).toMatch(/^millrace: http:\/\/127\.0\.0\.1:1 cannot be reached \(.*\); is the server running\?\n$/)
    expect(broken.err).toContain('sick/agent.ts exports rootAgent')
    expect(nothing.err).toBe('millrace: there is no prompt: give one, or pipe it in\n')
    expect(option.err).toContain('Allowed choices are')
  })
})

describe('millrace sessions', () => {
  test('lists, exports, imports, searches and removes, on a server and in a folder', async () => {
    await onServer('run', 'assistant', 'Add a proverb: Still waters run deep', '--session', 'deep')
    const exported = await onServer('sessions', 'export', 'deep')
    expect(exported.code).toBe(0)
    const file = join(root, 'deep.jsonl')
    writeFileSync(file, exported.out)
    const own = ['--data-dir', join(root, 'imported')]
    mkdirSync(join(root, 'imported'))
    const imported = await millrace(['sessions', 'import', file, '--id', 'copy', ...own])
    expect(imported).toMatchObject({ code: 0, out: 'copy\n' })
    const [listed, found, wire] = await Promise.all([
      onServer('sessions', 'ls', '--json'),
      onServer('sessions', 'search', 'STILL WATERS'),
      onServer('sessions', 'export', 'deep', '--dialect', 'adk'),
    ])
    expect((JSON.parse(listed.out) as { id: string }[]).map(({ id }) => id)).toContain('deep')
    expect(found.out).toMatch(/^deep +\d+ +message +user +Add a proverb: Still waters run deep$/m)
    expect(detectDialect(wire.out)).toBe('adk')
    const local = await millrace(['sessions', 'ls', ...own])
    expect(local.out).toMatch(
      /^session +agent +title +status +events +changed\ncopy +assistant .* done +\d+ +.* ago\n$/,
    )
    const removed = await millrace(['sessions', 'rm', 'copy', '--json', ...own])
    expect(removed).toMatchObject({ code: 0, out: '{"removed":"copy"}\n', err: '' })
    const [gone, none] = await Promise.all([
      millrace(['sessions', 'export', 'copy', ...own]),
      millrace(['sessions', 'ls', '--data-dir', join(root, 'nowhere')]),
    ])
    expect([gone.code, none.code]).toEqual([1, 1])
    expect(none.err).toBe(
      `millrace: there is no log in ${join(root, 'nowhere')}; name another with --data-dir, or a server with --server\n`,
    )
  })

  test('a run whose recording ends in the middle is cut off in the list, in its filter and in `tail`', async () => {
    await onServer('run', 'assistant', 'Add a proverb: Haste makes waste', '--session', 'whole')
    const exported = await onServer('sessions', 'export', 'whole')
    const file = join(root, 'half.jsonl')
    writeFileSync(
      file,
      exported.out
        .split('\n')
        .filter((line) => !line.includes('"run.finished"'))
        .join('\n'),
    )
    const own = ['--data-dir', join(root, 'half')]
    mkdirSync(join(root, 'half'))
    await millrace(['sessions', 'import', file, '--id', 'half', ...own])
    const ids = async (status: string): Promise<readonly string[]> => {
      const { out } = await millrace(['sessions', 'ls', '--json', '--status', status, ...own])
      return (JSON.parse(out) as { id: string }[]).map(({ id }) => id)
    }
    const found = await millrace(['sessions', 'search', 'haste', '--status', 'cut-off', ...own])
    expect(found.out).toMatch(/^half /)
    const { out } = await millrace(['sessions', 'ls', ...own])
    expect(out).toMatch(/\nhalf +assistant .* cut off +\d+ +.* ago\n$/)
    expect([await ids('cut-off'), await ids('failed')]).toEqual([['half'], []])
  })
})

test('doctor has a line for each thing, and the exit code 1 when an agent does not load', async () => {
  const port = new URL(served.address).port
  // It judges the process that it runs in, too.
  const alone = { alone: true }
  const [good, bad] = await Promise.all([
    millrace(['doctor', '--agents', exampleAgents, '--port', port, '--data-dir', join(root, 'served')], alone),
    millrace(['doctor', '--agents', 'broken', '--json', '--port', '0', '--data-dir', join(root, 'new')], alone),
  ])
  expect(good.code).toBe(0)
  expect(good.out).toMatch(/^✓ Node {6}\d/m)
  expect(good.out).toContain(`✓ port      ${port}, where a Millrace is running\n`)
  expect(good.out).toContain('in use by a running server')
  expect(bad.code).toBe(1)
  expect(JSON.parse(bad.out)).toContainEqual(
    expect.objectContaining({ what: 'agents', state: 'bad', advice: expect.stringContaining('sick/agent.ts') }),
  )
})

test('serve --print-config says where each setting comes from, and shows no secret', async () => {
  const env = { PORT: '9001', MILLRACE_TOKENS: 'ada=secret-of-ada' }
  const { code, out } = await millrace(['serve', '--print-config', '--grace', '7', '--token', 'bob=secret-of-bob'], {
    env,
  })
  expect(code).toBe(0)
  expect(out).toMatch(/^--port +9001 +PORT$/m)
  expect(out).toMatch(/^--grace +7 +flag$/m)
  expect(out).toMatch(/^--lease +15 +default$/m)
  expect(out).toMatch(/^--token +set \(not shown\) +flag$/m)
  expect(out).not.toContain('secret-of')
  expect(out).toMatch(/^--record-prompts +on, but off with users +default$/m)
  expect(out).toMatch(/^--limit +– +default$/m)
  const recording = await millrace(['serve', '--print-config'], { env: { MILLRACE_RECORD_PROMPTS: 'off' } })
  expect(recording.out).toMatch(/^--record-prompts +off +MILLRACE_RECORD_PROMPTS$/m)
})
