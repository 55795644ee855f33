interface Finding {
  readonly heading: string
  readonly statement: string
  readonly title: string
  readonly url: string
}

/**
 * A report from headings and findings. Researchers that work in parallel find the same source: it is used once, where it
 * is the subject, else where it came first. Every statement has the number of its source.
 */
export function report(request: string): string {
  const [, topic = ''] = /^# (.*)$/m.exec(request) ?? []
  const sections = request.split(/^## /m).slice(1)
  const all = sections.flatMap(findingsOf)
  const kept = all.filter((finding) => finding === placeOf(finding.url, all))
  const sources = [...new Map(kept.map(({ url, title }) => [url, title]))]
  const body = [...new Set(kept.map(({ heading }) => heading))].map((heading) => {
    const own = kept.filter((finding) => finding.heading === heading)
    return `## ${heading}\n\n${own.map(({ statement, url }) => `${statement} [${1 + sources.findIndex(([of]) => of === url)}]`).join('\n\n')}`
  })
  const title = topic.charAt(0).toUpperCase() + topic.slice(1)
  const list = sources.map(([url, name], i) => `${i + 1}. [${name}](${url})`)
  return `# ${title}\n\n${body.join('\n\n')}\n\n**Sources:**\n${list.join('\n')}`
}

function findingsOf(section: string): readonly Finding[] {
  const [heading = '', ...lines] = section.split('\n')
  return lines.flatMap((line) => {
    const [, statement, title, url] = /^- (.*) \(\[([^\]]+)\]\((https?:[^)]+)\)\)$/.exec(line) ?? []
    return statement === undefined || title === undefined || url === undefined
      ? []
      : [{ heading, statement, title, url }]
  })
}

function placeOf(url: string, all: readonly Finding[]): Finding | undefined {
  const same = all.filter((finding) => finding.url === url)
  return same.find(({ heading, title }) => heading === title) ?? same[0]
}
