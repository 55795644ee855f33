import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A block of code in one of our documents. */
export interface Block {
  /** The document and the number of the block in it, such as `docs/models.md 2`. */
  readonly name: string
  readonly language: string
  readonly code: string
}

const foldersIn = (folder: string): readonly string[] =>
  readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`)

function documents(): readonly string[] {
  const readmes = ['packages', 'examples', 'agents'].flatMap(foldersIn).map((folder) => `${folder}/README.md`)
  const pages = ['docs', 'docs/wires'].flatMap((folder) =>
    readdirSync(root + folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  )
  return ['README.md', ...readmes, ...pages]
}

/** All blocks of all documents for users. */
export function readBlocks(): readonly Block[] {
  return documents().flatMap((path) => {
    let text = ''
    try {
      text = readFileSync(root + path, 'utf8')
    } catch {
      return [] // a folder without a README
    }
    return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```/gm)].map(([, , language = '', code = ''], at) => ({
      name: `${path} ${at + 1}`,
      language,
      code,
    }))
  })
}
