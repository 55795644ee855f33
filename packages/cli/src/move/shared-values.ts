import type { SharedArtifact, SharedValue, WholeStore } from '@millrace/server'

/** How many of the source's values and artifacts the target has already, and the first that differs there. */
export async function sharedConflict(
  from: WholeStore,
  to: WholeStore,
): Promise<{ readonly values: number; readonly artifacts: number; readonly conflict?: string }> {
  let [values, artifacts] = [0, 0]
  for await (const { value, ...key } of from.values()) {
    const there = await to.findValue(key)
    if (there !== undefined && there !== value) return { values, artifacts, conflict: `the shared value ${key.name}` }
    if (there !== undefined) values += 1
  }
  for await (const { body, ...key } of from.artifacts()) {
    const there = await to.findArtifact(key)
    if (there !== undefined && there !== body) return { values, artifacts, conflict: `the file ${key.name}` }
    if (there !== undefined) artifacts += 1
  }
  return { values, artifacts }
}

/** Values and artifacts of one transaction, and the characters of the artifacts. */
const most = 500
const mostText = 4 * 2 ** 20

/** Copies what is missing, and returns how many there are. */
export async function movedShared(
  from: WholeStore,
  to: WholeStore,
): Promise<{ readonly values: number; readonly artifacts: number }> {
  const count = { values: 0, artifacts: 0 }
  let values: SharedValue[] = []
  for await (const value of from.values()) {
    count.values += 1
    if ((await to.findValue(value)) === undefined) values.push(value)
    if (values.length < most) continue
    await to.putValues(values)
    values = []
  }
  if (values.length > 0) await to.putValues(values)
  let artifacts: SharedArtifact[] = []
  let text = 0
  for await (const artifact of from.artifacts()) {
    count.artifacts += 1
    if ((await to.findArtifact(artifact)) === undefined) {
      artifacts.push(artifact)
      text += artifact.body.length
    }
    if (artifacts.length < most && text < mostText) continue
    await to.putArtifacts(artifacts)
    artifacts = []
    text = 0
  }
  if (artifacts.length > 0) await to.putArtifacts(artifacts)
  return count
}
