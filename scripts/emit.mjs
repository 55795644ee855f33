// Writes the JavaScript of every package, and the example agents into the command's package.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { root } from './install.mjs'
import { shipped } from './strip.mjs'

/** From which folder of sources to which folder that is packed. */
export const emitted = [
  { from: 'packages/core/src', to: 'packages/core/dist' },
  { from: 'packages/server/src', to: 'packages/server/dist' },
  { from: 'packages/react/src', to: 'packages/react/dist' },
  { from: 'packages/cli/src', to: 'packages/cli/dist' },
  { from: 'agents', to: 'packages/cli/agents' },
]

export async function emit() {
  for (const { from, to } of emitted) {
    const kept = new Set()
    for (const name of sourcesIn(root + from)) {
      for (const [path, text] of await outputs(from, to, name)) {
        write(root + path, text)
        kept.add(path)
      }
    }
    clean(to, kept)
  }
}

/** The sources of a folder, by their names in it. The README and the test cases of an agent are shipped as they are. */
export function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      /\.tsx?$|(^|\/)README\.md$|\.case\.json$/.test(name) &&
      !/\.test\.tsx?$|\.d\.ts$|(^|\/)(node_modules|dist)\//.test(name),
  )
}

/**
 * What is written for one source: path → text.
 *
 * @returns {Promise<[string, string][]>}
 */
export async function outputs(from, to, name) {
  const source = join(from, name)
  const text = readFileSync(root + source, 'utf8')
  if (/\.(md|json)$/.test(name)) return [[join(to, name), text]]
  const path = join(to, name.replace(/\.tsx?$/, '.js'))
  const { code, map } = await shipped(text, source)
  if (from === 'agents') return [[path, code]]
  // The sources are in the package, so the map only points at them.
  const { version, names, mappings } = map
  const sources = [relative(dirname(path), source)]
  const mapText = JSON.stringify({ version, file: basename(path), sources, names, mappings })
  return [
    [path, `${code}//# sourceMappingURL=${basename(path)}.map\n`],
    [`${path}.map`, mapText],
  ]
}

/** A file that does not change keeps its time: a server that watches it does not reload it. */
function write(file, text) {
  try {
    if (readFileSync(file, 'utf8') === text) return
  } catch {
    mkdirSync(dirname(file), { recursive: true })
  }
  writeFileSync(file, text)
}

/** Removes what was written for a source that is gone, with its declarations. */
function clean(to, kept) {
  for (const name of readdirSync(root + to, { recursive: true, encoding: 'utf8' })) {
    const script = join(to, name.replace(/\.d\.ts$/, '.js').replace(/\.js\.map$/, '.js'))
    if (/\.(js|js\.map|d\.ts|md|case\.json)$/.test(name) && !kept.has(script))
      rmSync(join(root, to, name), { force: true })
  }
}
