// The order of test files. Two lanes end at about the same time when the longest files come first; vitest knows how long
// a file takes only after it has run here once, so the longest ones are named.
import { BaseSequencer } from 'vitest/node'

const longest = [
  'test/authors/adk.slow',
  'test/authors/langgraph.slow',
  'test/packed/install',
  'test/process/agent-faults.slow',
  'test/browser/conversation',
  'test/process/author-day.slow',
  'test/browser/panels',
  'test/browser/shell',
  'test/authors/adk-killed.slow',
  'test/authors/langgraph-kill.slow',
  'test/process/mcp.slow',
  'test/browser/adk-web',
  'test/browser/accessible',
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
