// The order of test files. Workers end at about the same time when the longest files come first; vitest knows how long a
// file takes only after it has run here once, so the longest ones are named. Those of authors come first, also because a
// worker is shared only as long as the next file may share it.
import { BaseSequencer } from 'vitest/node'

const longest = [
  'test/authors/langgraph.slow',
  'test/authors/adk.slow',
  'test/authors/langgraph-kill.slow',
  'test/authors/adk-killed.slow',
  'test/authors/adk-cut.slow',
  'test/process/cli-test.slow',
  'test/process/agent-faults.slow',
  'test/process/cli-agents.slow',
  'test/process/author-day.slow',
  'test/attack/bounded-work.slow',
  'test/packed/install',
  'test/process/replica-life.slow',
  'test/process/cli-tape.slow',
  'test/process/mcp.slow',
  'test/process/cli-streams.slow',
  'test/process/serve.slow',
  'test/process/move.slow',
  'test/consumer/readmes',
  'test/browser/foreign-clients',
  'test/browser/conversation',
  'test/browser/accessible',
  'test/browser/adk-web',
  'test/browser/shell',
  'test/browser/panels',
  'test/browser/event-source',
]

export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const place = ({ moduleId }) => {
      const found = longest.findIndex((name) => moduleId.includes(`/${name}.`))
      return found === -1 ? longest.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}
