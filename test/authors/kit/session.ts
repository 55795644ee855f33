import {
  fold,
  type Json,
  problemsAtEnd,
  problemsView,
  type Recorded,
  type SessionInfo,
  type StreamProblem,
} from '@millrace/core'

/** What a person does next: says something, or answers the open questions of the agent, each with the same value. */
export type Turn = { readonly say: string } | { readonly answer: Json }

export async function post(address: string, path: string, body: unknown): Promise<string> {
  return (await send(address, path, body)).text()
}

export async function send(address: string, path: string, body: unknown): Promise<Response> {
  const sent = await fetch(address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
    body: JSON.stringify(body),
  })
  if (!sent.ok) throw new Error(`POST ${path}: ${sent.status} ${await sent.text()}`)
  return sent
}

/** The log of a session, as it is stored. */
export async function logOf(address: string, session: string): Promise<readonly Recorded[]> {
  const text = await (await fetch(`${address}/sessions/${session}/log`)).text()
  const [, ...lines] = text.trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Recorded)
}

export async function stateOf(address: string, session: string): Promise<Record<string, Json>> {
  const answer = await (await fetch(`${address}/sessions/${session}/state`)).json()
  return (answer as { state: Record<string, Json> }).state
}

/** The ids of the questions without an answer. A node that asks again may use the id of its first question again. */
export function openQuestions(rows: readonly Recorded[]): readonly string[] {
  const open = new Set<string>()
  for (const { event } of rows) {
    if (event.kind === 'interrupt') open.add(event.id)
    if (event.kind === 'resumed') open.delete(event.interrupt)
  }
  return [...open]
}

/** What our own linter finds wrong with a log that has ended. */
export function wrongWith(rows: readonly Recorded[]): readonly StreamProblem[] {
  const { problems } = problemsAtEnd(fold(problemsView, rows))
  return problems.toArray().filter(({ severity }) => severity !== 'info')
}

/** Starts the run of a turn without staying for its stream; answers its id. */
export async function startTurn(address: string, agent: string, session: string, turn: Turn): Promise<string> {
  const { run } = JSON.parse(
    await post(address, `/sessions/${session}/runs`, { agent, input: await inputOf(address, session, turn) }),
  ) as { run: string }
  return run
}

async function inputOf(address: string, session: string, turn: Turn): Promise<object> {
  if ('say' in turn) {
    const content = { role: 'user', parts: [{ text: turn.say }] }
    return { messages: [{ id: crypto.randomUUID(), role: 'user', content }] }
  }
  const open = openQuestions(await logOf(address, session))
  return { messages: [], resume: open.map((id) => ({ interrupt: id, status: 'resolved', payload: turn.answer })) }
}

/** Takes a turn to the end of its run. */
export async function runOnce(address: string, agent: string, session: string, turn: Turn): Promise<void> {
  const run = await startTurn(address, agent, session, turn)
  await (await fetch(`${address}/sessions/${session}/events?run=${encodeURIComponent(run)}`)).text()
}

/** Changes the state by hand, as ADK's page does. */
export async function patchState(
  address: string,
  { id, agent, user }: Pick<SessionInfo, 'id' | 'agent' | 'user'>,
  delta: object,
): Promise<void> {
  const answer = await fetch(`${address}/apps/${agent}/users/${user}/sessions/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stateDelta: delta }),
  })
  if (!answer.ok) throw new Error(`PATCH ${id}: ${answer.status} ${await answer.text()}`)
}
