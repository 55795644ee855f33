import type { AdkEvent } from './adk-event.ts'

// A log without nodes, such as a plain ADK stream, shows by author and branch alone which agent runs. ADK gives parallel
// agents a branch each: agent names joined by dots, '' for the main conversation. Encoders and views infer nodes from
// them with these functions.

/** More agents than this do not run side by side: the oldest counts as over, so that an event costs the same in any log. */
export const mostSpeakers = 256

/** The branch of an event; '' for the main conversation. */
export function branchOf({ branch }: AdkEvent): string {
  return typeof branch === 'string' ? branch : ''
}

/** Whether `branch` lies inside `above`. An agent goes on only after the branches below it are over. */
export function isBelow(branch: string, above: string): boolean {
  return above === '' ? branch !== '' : branch.startsWith(`${above}.`)
}

/** The branch around this one. */
export function parentBranch(branch: string): string {
  return branch.slice(0, Math.max(0, branch.lastIndexOf('.')))
}

/** The path of the node that an author is on a branch: `burn_analyst` on `consult@call.burn_analyst@1` is `consult/burn_analyst`. */
export function inferredPath(branch: string, author: string): string {
  const names = branch === '' ? [] : branch.split('.').map((segment) => segment.split('@')[0] ?? '')
  if (names.at(-1) !== author) names.push(author)
  return names.join('/')
}
