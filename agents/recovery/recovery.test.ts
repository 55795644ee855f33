import { FunctionTool, type LlmAgent } from '@google/adk'
import { evidenceBefore, figuresIn, type RunEvent, supportIn } from '@millrace/core'
import { adkAgent } from '@millrace/server'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'
import { testSession as memorySession } from '../../test/kit/run-agent.ts'
import { assessBurn } from './assess-burn.ts'
import { assessNepa, decidePathway } from './assess-nepa.ts'
import { assessSalvage } from './assess-salvage.ts'
import { assessTrails } from './assess-trails.ts'

const fire = 'cedar-creek-2022'
const number = (value: number | undefined): string => (value ?? Number.NaN).toLocaleString('en-US')

describe('recovery, offline', () => {
  let events: readonly RunEvent[]
  beforeAll(async () => {
    events = await testSession('recovery').run('Give me a recovery briefing for Cedar Creek Fire')
  })
  const own = () =>
    events.flatMap((event) =>
      event.kind === 'agent' && event.event.partial !== true && event.event.branch === undefined ? [event.event] : [],
    )
  const calls = (index: number) => (own()[index]?.content?.parts ?? []).flatMap((part) => part.functionCall?.name ?? [])
  const answers = (index: number) =>
    (own()[index]?.content?.parts ?? []).flatMap((part) => part.functionResponse?.name ?? [])

  test('four calls, four responses, two calls, two responses, text, one invocation', () => {
    const team = ['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']
    expect(own()).toHaveLength(5)
    expect(calls(0)).toEqual(team)
    expect(answers(1)).toEqual(team)
    expect(calls(2)).toEqual(['cruising_assistant', 'nepa_advisor'])
    expect(answers(3)).toEqual(['cruising_assistant', 'nepa_advisor'])
    expect(new Set(own().map(({ invocationId }) => invocationId)).size).toBe(1)
    expect(own().every(({ author }) => author === 'coordinator')).toBe(true)
  })

  test('every figure of the briefing is found in the result that it came from, and a planted one is not', () => {
    const briefing = said(events).at(-1) ?? ''
    const rows = events.map((event, i) => ({ seq: i + 1, at: i, run: 'r', event }))
    const last = rows.findLast(({ event }) => event.kind === 'agent' && event.event.partial !== true)
    if (last?.event.kind !== 'agent') throw new Error('no answer')
    const { evidence } = evidenceBefore(rows, { run: 'r', seq: last.seq, message: last.event.message })
    const support = supportIn(evidence)
    const results = (text: string) =>
      figuresIn(text).map((figure) => [figure.text, support.of(figure)[0]?.evidence.kind ?? 'nothing'] as const)
    expect(results(briefing).length).toBeGreaterThan(30)
    expect(results(briefing).filter(([, kind]) => kind !== 'tool')).toEqual([])
    const planted = briefing.replace('127,311 acres; 42%', '127,311 acres; 47%').replace('$401,000', '$410,000')
    expect(results(planted).filter(([, kind]) => kind !== 'tool')).toEqual([
      ['47%', 'nothing'],
      ['$410,000', 'nothing'],
    ])
    // Two results have a confidence of 90 %, and two have a 5 that counts plots: the one of the same passage comes first.
    const origin = (line: string, text: string): string => {
      const figures = figuresIn(briefing.split('\n').find((each) => each.includes(line)) ?? '')
      const figure = figures.find((each) => each.text === text)
      const [place] = figure === undefined ? [] : support.of(figure, undefined, [figures])
      return `${place?.evidence.name} ${place?.path}`
    }
    expect(origin('Infrastructure Damage', '90%')).toBe('classify_damage proof_layer.confidence')
    expect(origin('Timber Salvage', '91%')).toBe('assess_salvage proof_layer.confidence')
    expect(origin('Timber Salvage', '$1,434,284')).toBe('assess_salvage value_usd')
  })

  test('the figures of the briefing are the tools’ own', () => {
    const briefing = said(events).at(-1) ?? ''
    const burn = assessBurn(fire)
    const trails = assessTrails(fire)
    const salvage = assessSalvage(fire)
    if ('error' in burn || 'error' in trails || 'error' in salvage) throw new Error('no data')
    expect(burn.breakdown[0]).toMatchObject({ severity: 'HIGH', sectors: 4, percent: 42 })
    expect(briefing).toContain(`${number(burn.total_acres)} acres; ${burn.breakdown[0]?.percent}%`)
    expect(briefing).toContain(`$${number(trails.repair_usd)}`)
    expect(briefing).toContain(`${number(salvage.net_mbf)} MBF, $${number(salvage.value_usd)}`)
    const worst = assessSalvage(
      fire,
      burn.high_severity.map(({ id }) => id),
    )
    if ('error' in worst) throw new Error('no data')
    expect(briefing).toContain(`${number(worst.net_mbf)} MBF, $${number(worst.value_usd)}`)
    // All that is worth salvaging needs an assessment; where the fire was worst alone, it does not.
    expect(assessNepa(salvage.viable_acres).salvage.pathway).toBe('environmental assessment')
    expect(assessNepa(worst.viable_acres).salvage.pathway).toBe('categorical exclusion')
    expect(briefing).toContain(`A salvage of ${salvage.viable_acres} acres needs an environmental assessment`)
    expect(briefing).toContain(`A salvage of ${worst.viable_acres} acres fits a categorical exclusion`)
    expect(briefing).toContain(`at the price of $${number(salvage.value_usd - worst.value_usd)}.`)
    expect(briefing).toContain('**Overall Confidence:** 90%')
    expect(briefing).toContain('(Confidence: 92%)')
    expect(briefing).not.toMatch(/NEPA Pathway:.*Confidence: \d/)
    expect(briefing).toContain('illustrative')
    expect(briefing).not.toMatch(/not stated|No answer|NaN/)
  })

  test('every specialist answers with text and a structured proof layer', () => {
    for (const part of own()[1]?.content?.parts ?? []) {
      const { result, proof_layer: proof } = part.functionResponse?.response ?? {}
      expect(result).toMatch(/\*\*Source:\*\*/)
      expect(proof).toMatchObject({ citations: expect.any(Array), reasoning_chain: expect.any(Array) })
      const { confidence, citations } = proof as { confidence?: number; citations: unknown[] }
      for (const citation of citations)
        expect(citation).toMatchObject({ source: expect.any(String), reference: expect.any(String) })
      // A rule applied to numbers measures nothing, so it has no confidence.
      const measured = part.functionResponse?.name !== 'nepa_advisor'
      expect([typeof confidence, /\*\*Confidence:\*\*/.test(String(result))]).toEqual(
        measured ? ['number', true] : ['undefined', false],
      )
      if (measured) expect(JSON.stringify(citations)).toMatch(/[Ii]llustrative/)
    }
  })

  test('specialists stream under their own names, on their own branches', () => {
    const authors = new Set(
      events.flatMap((event) => (event.kind === 'agent' && event.event.partial ? [event.event.author] : [])),
    )
    expect([...authors]).toEqual(
      expect.arrayContaining(['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor', 'coordinator']),
    )
  })

  test('all four start before the first of them ends', () => {
    const kinds = events.flatMap((event) =>
      (event.kind === 'node.started' && event.parent !== undefined) || event.kind === 'node.finished'
        ? [event.kind]
        : [],
    )
    expect(kinds.slice(0, 4)).toEqual(['node.started', 'node.started', 'node.started', 'node.started'])
  })

  test('a narrow question goes to one specialist', async () => {
    const narrow = await testSession('recovery').run('Which NEPA pathway fits a salvage of 300 acres?')
    expect(said(narrow).at(-1)).toContain('environmental assessment')
    expect(JSON.stringify(narrow)).not.toContain('"burn_analyst"')
  })

  test.each([
    ['Which NEPA pathway fits a salvage of 200 acres with 2 miles of temporary road?', 'environmental assessment', 2],
    ['Can we salvage 200 acres if we build two miles of temporary road?', 'environmental assessment', 2],
    ['Can we salvage 200 acres with half a mile of temporary road?', 'categorical exclusion', 0.5],
    ['Which pathway for 1,200 acres?', 'environmental assessment', 0],
    ['Can we salvage 200 acres with 1 km of temporary road?', 'environmental assessment', 0.621],
    ['Can we salvage 80 hectares with 800 metres of temporary road?', 'categorical exclusion', 0.497],
    ['Can we salvage 120 ha?', 'environmental assessment', 0],
    ['200 acres, a road of 0.3 miles and another road of 0.4 miles: allowed?', 'environmental assessment', 0.7],
    ['How severe is it, and may we build 2 miles of road for 100 acres?', 'environmental assessment', 2],
  ])('the numbers of the question decide: %s', async (question, pathway, miles) => {
    const own = testSession('recovery')
    const answer = said(await own.run(question)).at(-1)
    expect(answer).toContain(pathway === 'categorical exclusion' ? `fits a ${pathway}` : `needs an ${pathway}`)
    expect(own.state().nepa_findings).toMatchObject({ salvage: { temporary_road_miles: miles, pathway } })
  })

  test.each([
    ['Give me a recovery briefing for Bootleg Fire', 'Bootleg'],
    ['How severe was the Camp Fire?', 'Camp'],
    ['how severe was the bootleg fire', 'bootleg'],
    ['What is the salvage timber of the Holiday Farm Fire worth?', 'Holiday Farm'],
    ['Give me a recovery briefing for Bootleg', 'Bootleg'],
    ['How severe was Bootleg?', 'Bootleg'],
    ['Which trails must stay closed after the Cedar Fire?', 'Cedar'],
    ['Compare Cedar Creek and Dixie Fire acres', 'Dixie'],
    ['Compare the Cedar Creek and Dixie fires', 'Dixie'],
    ['Compare Cedar Creek and Dixie', 'Dixie'],
    ['Is Dixie worse than Cedar Creek?', 'Dixie'],
    ['How does Cedar Creek compare with the Cedar Creek II fire?', 'Cedar Creek II'],
  ])('another fire gets no figures: %s', async (question, name) => {
    const own = testSession('recovery')
    const answers = said(await own.run(question))
    expect(answers).toHaveLength(1)
    expect(answers[0]).toContain('I have data for Cedar Creek only')
    expect(answers[0]).toContain(`none for ${name},`)
    expect(answers[0]).not.toMatch(/\d/)
  })

  test.each([
    'How severe was the Cedar Creek burn?',
    'Which trails must stay closed after the fire?',
    'Which trails at Waldo Lake must stay closed?',
    'What is the salvage timber of the cedar creek fire worth?',
    'Give me a recovery briefing for the Cedar Creek Fire in the Willamette National Forest',
  ])('the fire with data is known by its name, or by none: %s', async (question) => {
    expect(said(await testSession('recovery').run(question)).at(-1)).toMatch(/\d/)
  })

  /** The last answer of each turn of one conversation. */
  async function conversation(...questions: readonly string[]): Promise<readonly string[]> {
    const own = testSession('recovery')
    const answers: string[] = []
    for (const question of questions) answers.push(said(await own.run(question)).at(-1) ?? '')
    return answers
  }

  test.each([
    ['And the Camp Fire?', 'What about its trails?'],
    ['And the Camp Fire?', 'Give me a recovery briefing'],
    ['And the Camp Fire?', 'How many acres burned in 2022?'],
    ['Cedar Creek fire of 1994, how many acres?', 'What about its trails?'],
  ])(
    'a follow-up without a name is about the fire last talked about, with data or without: %s %s',
    async (...asked) => {
      const [first, refused, again] = await conversation('How severe was Cedar Creek?', ...asked)
      expect(first).toMatch(/Cedar Creek Fire burned 127,311 acres/)
      expect(refused).toMatch(/^I have data for .* only/)
      expect(again).toBe(refused)
    },
  )

  test('a conversation comes back to the fire with data by its name, or by its year', async () => {
    const [, named] = await conversation('How severe was the Camp Fire?', 'Which trails of Cedar Creek must close?')
    expect(named).toMatch(/^For the Cedar Creek Fire:\n\n### 1. Summary\n12 damage points/)
    const [, dated] = await conversation('How severe was Cedar Creek in 1994?', 'And the trails in 2022?')
    expect(dated).toMatch(/^For the Cedar Creek Fire:\n\n### 1. Summary\n12 damage points/)
    const [, followed] = await conversation(
      'Give me a recovery briefing for Cedar Creek Fire',
      'What about its trails?',
    )
    expect(followed).toMatch(/^For the Cedar Creek Fire:\n\n### 1. Summary\n12 damage points/)
    const [, thanked] = await conversation('How severe was the Camp Fire?', 'Thank you')
    expect(thanked).toContain('I coordinate post-fire recovery')
  })

  test.each([
    'How severe is it?',
    'Which trails must stay closed?',
    'What is the salvage timber worth?',
    'Which NEPA pathway fits a salvage of 200 acres?',
    'Give me a recovery briefing',
  ])('an answer with figures names the fire: %s', async (question) => {
    expect((await conversation(question))[0]).toContain('Cedar Creek Fire')
  })

  test.each([
    'Cedar Creek fire of 1994, how many acres?',
    'How severe was the 1994 Cedar Creek Fire?',
    'Which trails closed after the 1994 fire?',
    'What burned in 2021?',
    'Compare Cedar Creek in 2022 and in 1994',
    'How severe was Cedar Creek in ’94?',
  ])('a year without data is refused: %s', async (question) => {
    const [answer] = await conversation(question)
    expect(answer).toMatch(/^I have data for the Cedar Creek Fire of 2022 only\./)
    expect(answer?.replaceAll('2022', '').replace(/1994|2021/, '')).not.toMatch(/\d/)
  })

  test.each([
    'Cedar Creek fire of 2022, how many acres?',
    'How many acres?',
    'How many acres did the fire take?',
    'How big was the 2022 fire?',
    'How many acres burned?',
  ])('the size of a fire is the area that burned: %s', async (question) => {
    expect((await conversation(question))[0]).toContain('The Cedar Creek Fire burned 127,311 acres;')
  })

  test('the area of the fire as a place is no question about its size: all specialists are asked', async () => {
    const [answer] = await conversation('Is it safe to enter the Cedar Creek area? Assess it.')
    expect(answer).toContain('Recommended Actions')
  })

  test('a number with a unit is an amount and not a year', async () => {
    const [answer] = await conversation('Which NEPA pathway fits a salvage of 2000 acres?')
    expect(answer).toContain('A salvage of 2,000 acres needs an environmental assessment')
  })

  test.each([
    [
      ['How many hectares burned?'],
      'burned 127,311 acres (51,521 hectares); 42% of them (53,490 acres (21,647 hectares)',
    ],
    [['How many hectares burned?'], '| HIGH | 4 | 53,490 (21,647) | 42% |'],
    [['How many acres burned?', 'And in hectares?'], '127,311 acres (51,521 hectares)'],
    [['How many hectares of timber are worth salvaging?'], '**Viable area:** 269 acres (109 hectares)'],
    [['Can we salvage 120 ha?'], 'A salvage of 296.526 acres (120 hectares) needs an environmental assessment'],
    [['Can we salvage 120 ha?'], '250 acres (101 hectares) and 0.5 miles'],
  ])('a question in hectares is answered in hectares too: %s', async (questions, figures) => {
    expect((await conversation(...questions)).at(-1)).toContain(figures)
  })

  test('the state has the incident, what each specialist found, and the priorities', async () => {
    const own = testSession('recovery')
    await own.run('Give me a recovery briefing for Cedar Creek Fire')
    const state = own.state()
    expect(state).toMatchObject({
      incident: { id: fire, name: 'Cedar Creek', data: 'illustrative' },
      burn_findings: { total_acres: expect.any(Number) },
      trail_findings: { closures: expect.any(Array) },
      timber_findings: { value_usd: expect.any(Number) },
      nepa_findings: { salvage: { pathway: expect.any(String) } },
    })
    const priorities = state.priorities as { action: string; by: string }[]
    expect(new Set(priorities.map(({ by }) => by))).toEqual(
      new Set(['trail_assessor', 'burn_analyst', 'cruising_assistant']),
    )
    expect(JSON.stringify(state)).not.toContain('proof_layer')
  })

  test('the pathway turns at the limits of the exclusion', () => {
    expect(assessNepa(250, 0.5).salvage.pathway).toBe('categorical exclusion')
    expect(assessNepa(251).salvage.pathway).toBe('environmental assessment')
    expect(assessNepa(100, 0.6).salvage.pathway).toBe('environmental assessment')
  })

  test('an unknown fire is an answer, not a crash', () => {
    expect(assessBurn('nowhere')).toMatchObject({ error: expect.stringContaining('cedar-creek-2022') })
    expect(assessTrails('nowhere')).toHaveProperty('error')
    expect(assessSalvage('nowhere')).toHaveProperty('error')
    expect(decidePathway('nowhere')).toHaveProperty('error')
  })
})

describe('recovery, with tools that take their time', () => {
  /** The coordinator, with a wait before each of its specialists' tools. */
  async function slowed(wait: (tool: string) => Promise<void>) {
    const { rootAgent } = await import('./agent.ts')
    const restore: (() => void)[] = []
    for (const consulted of rootAgent.tools) {
      const specialist: LlmAgent = Reflect.get(consulted, 'agent')
      for (const tool of specialist.tools) {
        if (!(tool instanceof FunctionTool)) throw new Error(`${specialist.name} has a tool of another kind`)
        const { runAsync } = tool
        tool.runAsync = async (request) => {
          await wait(tool.name)
          return runAsync.call(tool, request)
        }
        restore.push(() => {
          tool.runAsync = runAsync
        })
      }
    }
    const agent = adkAgent('recovery', async () => rootAgent, { models: { tokensPerSecond: 0 } })
    return { agent, restore: () => restore.map((one) => one()) }
  }
  const brief = 'Give me a recovery briefing for Cedar Creek Fire'

  test('no tool of the first turn returns before all four have begun', async () => {
    const begun: string[] = []
    let open = (): void => {}
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    const { agent, restore } = await slowed(async (tool) => {
      if (begun.push(tool) === 4) open()
      await all
    })
    const events = await memorySession(agent).run(brief).finally(restore)
    expect(begun.slice(0, 4)).toEqual(['assess_severity', 'classify_damage', 'assess_salvage', 'decide_pathway'])
    expect(events.at(-1)).toMatchObject({ kind: 'run.finished', outcome: 'done' })
  })
})
