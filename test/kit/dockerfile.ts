/** One instruction of a Dockerfile: its name, its options and the rest of the line. */
export interface Instruction {
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  readonly rest: string
  /** The list of an instruction that needs no shell. */
  readonly list: readonly string[] | undefined
}

export interface Stage {
  readonly name: string
  readonly image: string
  readonly steps: readonly Instruction[]
}

/** The stages of a Dockerfile in order; the last one is what ships. */
export function stagesIn(text: string): readonly Stage[] {
  const stages: { name: string; image: string; steps: Instruction[] }[] = []
  for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const step = instruction(line)
    if (step.name === 'FROM') {
      const [image = '', , name = ''] = step.rest.split(/\s+/)
      stages.push({ name, image, steps: [] })
    } else {
      const stage = stages.at(-1)
      if (stage === undefined) throw new Error(`${step.name} comes before the first FROM`)
      stage.steps.push(step)
    }
  }
  return stages
}

const known = new Set([
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'ENV',
  'USER',
  'EXPOSE',
  'VOLUME',
  'HEALTHCHECK',
  'ENTRYPOINT',
  'CMD',
])

function instruction(line: string): Instruction {
  const [, name = '', given = '', rest = ''] = /^(\w+)\s+((?:--[\w-]+=\S+\s+)*)(.*)$/.exec(line) ?? []
  if (!known.has(name)) throw new Error(`unknown instruction: ${line}`)
  const options = Object.fromEntries([...given.matchAll(/--([\w-]+)=(\S+)/g)].map(([, key, value]) => [key, value]))
  const json = /^(?:CMD\s+)?(\[.*\])$/.exec(rest)?.[1]
  return { name, options, rest, list: json === undefined ? undefined : JSON.parse(json) }
}

/** The variables of ENV lines. */
export function envOf({ steps }: Stage): Readonly<Record<string, string>> {
  const pairs = steps.filter(({ name }) => name === 'ENV').flatMap(({ rest }) => rest.split(/\s+/))
  return Object.fromEntries(pairs.map((pair) => pair.split('=', 2)))
}
