import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { type CommandOptions, type Ended, endOf, person, runCommand, startCommand } from '../kit/command.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-cli-test-'))
const agents = join(root, 'agents')
beforeAll(() => cpSync(join(exampleAgents, 'assistant'), join(agents, 'assistant'), { recursive: true }))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const millrace = (args: readonly string[], options: CommandOptions = {}): Promise<Ended> =>
  runCommand(args, { cwd: root, ...options })

interface Report {
  readonly passed: number
  readonly failed: number
  readonly cases: readonly {
    readonly case: string
    readonly passed: boolean
    readonly runs: readonly { findings: unknown }[]
  }[]
}

/** What a report says, without times. */
const judged = ({ out }: Ended): unknown =>
  (JSON.parse(out) as Report).cases.map(({ case: name, passed, runs }) => [
    name,
    passed,
    runs.map(({ findings }) => findings),
  ])

test('the example agents pass their cases, and twice give the same result', async () => {
  const [first, second] = await Promise.all([
    millrace(['test', exampleAgents, '--json']),
    millrace(['test', exampleAgents, '--json']),
  ])
  const report = JSON.parse(first.out) as Report
  expect(report).toMatchObject({ passed: 6, failed: 0 })
  expect([first.code, second.code]).toEqual([0, 0])
  expect(judged(second)).toEqual(judged(first))
})

test('a planted change is found and named; a review accepts it', async () => {
  const weather = join(agents, 'assistant/weather.js')
  const agent = join(agents, 'assistant/agent.js')
  const untouched = [readFileSync(weather, 'utf8'), readFileSync(agent, 'utf8')] as const
  writeFileSync(
    weather,
    untouched[0].replace(/(lisbon: \{\s*low: 12,\s*high: )20/, (_, before) => `${before}27`),
  )
  const figure = await millrace(['test', '--filter', 'weather', '--junit', 'report.xml'])
  expect(figure.code).toBe(1)
  expect(figure.out).toContain('✗ agents/assistant/cases/weather.case.json')
  expect(figure.out).toMatch(/requests +assistant, model call 2: the answer of get_weather changed \(message 3 of 3\)/)
  expect(figure.out).toMatch(/figures +turn 1: no tool answered with 20\n/)
  expect(figure.out).toContain('0 passed, 1 failed')
  expect(readFileSync(join(root, 'report.xml'), 'utf8')).toContain(
    '<testsuite name="assistant" tests="1" failures="1">',
  )
  const asked = await millrace(['test', '--update', '--filter', 'weather'])
  expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('add --yes') })
  const case1 = join(agents, 'assistant/cases/weather.case.json')
  const before = readFileSync(case1, 'utf8')
  const declined = await millrace(['test', '--update', '--filter', 'weather'], { stdin: 'n\n', tty: person })
  expect(declined).toMatchObject({ code: 1, out: expect.stringContaining('1 case left as it is') })
  expect(declined.err).toContain('write what the agent does now? [y]es, [n]o, [a]ll, [q]uit')
  expect(readFileSync(case1, 'utf8')).toBe(before)
  // The case of the proverbs passes, so that it is not asked about; what is no answer is asked again.
  const typed = { stdin: 'maybe\nYes\n', tty: person }
  const accepted = await millrace(['test', '--update'], typed)
  expect(accepted.err.match(/write what the agent does now\?/g)).toHaveLength(2)
  expect(accepted.out).toContain('agents/assistant/cases/weather.case.json')
  expect(readFileSync(case1, 'utf8')).not.toBe(before)
  writeFileSync(case1, before)
  await opened()
  const updated = await millrace(['test', '--live', '--update', '--yes', '--filter', 'weather'])
  expect(updated.out).toContain('updated agents/assistant/cases/weather.case.json')
  expect(await millrace(['test', '--filter', 'weather'])).toMatchObject({ code: 0 })
  writeFileSync(agent, untouched[1].replace('You are a helpful assistant', 'You are a very helpful and kind assistant'))
  const prompt = await millrace(['test', '--filter', 'weather'])
  expect(prompt.out).toMatch(
    /assistant, model call 1: its instruction changed \(the prompt has \d+ words, \d+ when recorded\)/,
  )
  writeFileSync(agent, untouched[1])
})

/** `--open` serves the page with the run that failed until Ctrl-C, and the exit code still says that it failed. */
async function opened(): Promise<void> {
  const child = startCommand(['test', '--filter', 'weather', '--open'], { cwd: root })
  const ended = endOf(child)
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (text: string) => {
      said += text
      const [, url] = /The runs that failed are on (http:\S+) until Ctrl-C/.exec(said) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(({ err }) => reject(new Error(`it ended: ${said}${err}`)))
  })
  const page = await fetch(address, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  const { origin, pathname } = new URL(address)
  const transcript = await fetch(`${origin}/sessions/${pathname.slice('/s/'.length)}/views/transcript`)
  expect(await transcript.text()).toContain('Lisbon')
  child.kill('SIGINT')
  expect((await ended).code).toBe(1)
}

test('a run is recorded as a case, from words or from an exported session, and as a case of ADK', async () => {
  const [made, adk, run] = await Promise.all([
    millrace(['record', 'assistant', 'Hello', '--name', 'greets']),
    millrace([
      'record',
      'assistant',
      'What is the weather in Oslo?',
      '--evalset',
      'agents/assistant/chat.evalset.json',
    ]),
    millrace(['run', 'assistant', 'What is the weather in Rome?', '--json'], {
      env: { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' },
    }),
  ])
  expect([made.code, adk.code, run.code]).toEqual([0, 0, 0])
  expect(made.err).toContain('Wrote agents/assistant/cases/greets.case.json.\n1 turn, 1 model call; judged: trajectory')
  writeFileSync(join(root, 'rome.jsonl'), run.out)
  const [again, from, unknown, nothing] = await Promise.all([
    millrace(['record', 'assistant', 'Hello', '--name', 'greets']),
    // A key would be needed here if the answers were not in the file.
    millrace(['record', 'assistant', '--from', 'rome.jsonl', '--name', 'rome'], {
      env: { MILLRACE_MODEL: 'gemini-2.5-flash' },
    }),
    millrace(['record', 'nobody', 'Hello']),
    millrace(['record', 'assistant']),
  ])
  expect([again.code, from.code, unknown.code, nothing.code]).toEqual([1, 0, 1, 2])
  expect(again.err).toContain('greets.case.json exists; give another --name, or replace it with --force')
  const all = await millrace(['test', '--live'])
  expect(all.out).toMatch(/✓ agents\/assistant\/chat\.evalset\.json what-is-the-weather-in-oslo /)
  expect(all.out).toContain('5 passed')
  const recorded = await millrace(['test', '--filter', 'rome'], { env: { MILLRACE_MODEL: 'gemini-2.5-flash' } })
  expect(recorded.out).toContain('✓ agents/assistant/cases/rome.case.json')
  const without = await millrace(['test', '--filter', 'evalset'])
  expect(without).toMatchObject({
    code: 1,
    out: expect.stringContaining('has no recorded answers: run it with --live'),
  })
})

test('a case that is added to a set of ADK leaves the others as they are', async () => {
  const other = {
    eval_id: 'own',
    conversation: null,
    conversation_scenario: { starting_prompt: 'hi', conversation_plan: 'ask' },
    rubrics: [{ rubric_id: 'kind' }],
  }
  const file = join(root, 'agents/assistant/own.evalset.json')
  writeFileSync(file, JSON.stringify({ eval_set_id: 'own', name: null, description: null, eval_cases: [other] }))
  const added = await millrace(['record', 'assistant', 'Hello', '--evalset', file])
  expect(added).toMatchObject({ code: 0 })
  const { eval_cases: cases, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  expect(rest).toEqual({ eval_set_id: 'own', name: null, description: null })
  expect(cases).toEqual([other, expect.objectContaining({ evalId: 'hello' })])
  const tested = await millrace(['test', '--live', file])
  expect([tested.code, tested.out]).toEqual([1, expect.stringContaining('it has no conversation')])
  expect(tested.out).toContain('1 passed, 1 failed')
  rmSync(file)
})

test('the final state that a set of ADK names is judged', async () => {
  const file = join(root, 'agents/assistant/state.evalset.json')
  const greeting = { user_content: { role: 'user', parts: [{ text: 'Hello' }] } }
  const one = (eval_id: string, final_session_state: object | null) => ({
    eval_id,
    conversation: [greeting],
    session_input: { app_name: 'assistant', user_id: 'u', state: { proverbs: ['a'], other: 1 } },
    final_session_state,
  })
  const cases = [
    one('null', null),
    one('unset', {}),
    one('held', { proverbs: ['a'] }),
    one('lost', { proverbs: [], b: 2 }),
  ]
  writeFileSync(file, JSON.stringify({ eval_set_id: 'state', eval_cases: cases }))
  const tested = await millrace(['test', '--live', file])
  rmSync(file)
  expect(tested.out).toContain('3 passed, 1 failed')
  expect(tested.out).toMatch(/✗ \S+ lost .*\n +state +\/proverbs\/0 is new: "a"\n +state +\/b is missing\n/)
})

test('what is not a case is named', async () => {
  writeFileSync(join(root, 'bad.case.json'), '{"case":1,"agent":"assistant","turns":[],"judge":{}}')
  const [bad, missing, none] = await Promise.all([
    millrace(['test', 'bad.case.json']),
    millrace(['test', 'nowhere']),
    millrace(['test', '--filter', 'nothing has this']),
  ])
  expect([bad.code, missing.code, none.code]).toEqual([1, 1, 1])
  expect(bad.err).toMatch(/^millrace: bad\.case\.json: turns: /)
  expect(missing.err).toBe('millrace: there is no nowhere; name a case or a folder of agents\n')
  expect(none.err).toContain('there are no cases here; make one with `millrace record')
})
