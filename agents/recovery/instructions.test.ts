import { afterEach, beforeEach, expect, test } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'
import { events, type ModelServer, modelServer } from '../../test/kit/model-server.ts'

/** What a model that is not the offline script is told, by what really goes over the wire to it. */
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'served',
  choices: [{ index: 0, delta, finish_reason }],
})
const says = (content: string) => events([chunk({ role: 'assistant', content }), chunk({}, 'stop'), '[DONE]'])
const calls = (name: string, args: object) =>
  events([
    chunk({
      tool_calls: [{ index: 0, id: 'call', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ])

let provider: ModelServer
beforeEach(async () => {
  provider = await modelServer([
    calls('nepa_advisor', {
      request: 'fire_id:cedar-creek-2022 Can we salvage 80 ha with 800 metres of temporary road?',
    }),
    calls('decide_pathway', { fire_id: 'cedar-creek-2022', salvage_acres: 197.684, temporary_road_miles: 0.497 }),
    says('It fits.'),
    says('For the Cedar Creek Fire: it fits.'),
    says('I have data for Cedar Creek only, and none for the Camp Fire.'),
  ])
})
afterEach(() => provider.close())

const systemOf = (at: number): string => provider.requests[at]?.body.messages[0].content
const toolsOf = (at: number): string => JSON.stringify(provider.requests[at]?.body.tools)

test('a model is told the rules that the offline script follows', async () => {
  const own = testSession('recovery', { model: 'openai:any', openaiBaseUrl: `${provider.url}/v1` })
  const answers = said(await own.run('Can we salvage 80 ha with 800 metres of temporary road?'))
  expect(answers.at(-1)).toBe('For the Cedar Creek Fire: it fits.')
  expect(own.state().nepa_findings).toMatchObject({ salvage: { pathway: 'categorical exclusion' } })

  const coordinator = systemOf(0)
  // Which fire, by name and year, and how its specialists know it.
  expect(coordinator).toContain('the Cedar Creek Fire of 2022 (fire_id:cedar-creek-2022) only')
  expect(coordinator).toMatch(/in another year, are fires without data/)
  expect(coordinator).toMatch(
    /names no fire is about the one that was named last.*without data, the answer is the same/,
  )
  expect(coordinator).toMatch(/give no figures, neither from memory nor from earlier answers/)
  expect(coordinator).toMatch(/Name the fire in every answer with figures/)
  expect(coordinator).toMatch(/its numbers with their units/)
  expect(coordinator).toMatch(/the data set is illustrative/)

  const advisor = systemOf(1)
  expect(advisor).toMatch(/state no confidence/)
  expect(advisor).toMatch(/what was not checked/)
  expect(advisor).toMatch(/in brackets, in hectares \(one is 2\.47105 acres\)/)
  // The tool says in which units it counts, and that amounts are those of the whole project.
  expect(toolsOf(1)).toMatch(/whole project, in acres: several areas are added; a hectare is 2\.47105 acres/)
  expect(toolsOf(1)).toMatch(/in miles; a kilometre is 0\.6214 miles/)
  expect(toolsOf(1)).toMatch(/for a fire or a year without data its own name/)

  // What was asked before is there, so that the model can know which fire was named last.
  await own.run('And the Camp Fire?')
  expect(JSON.stringify(provider.requests[4]?.body.messages)).toContain('80 ha')
})
