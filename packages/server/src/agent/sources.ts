import { existsSync, type Stats, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The files of an agent, and what they import from packages. */
export interface Sources {
  /** The file itself and everything that it imports by a relative path. */
  readonly files: readonly string[]
  /** Where a relative import was looked for in vain: the file may be added later. */
  readonly missing: readonly string[]
  /** Of each of these as it was before it was read or looked for, so that an edit in the meantime is seen as one. */
  readonly stamps: ReadonlyMap<string, string>
  /** Each imported package or subpath, with the first file that imports it. */
  readonly imports: ReadonlyMap<string, string>
}

/** Reads the file and, through relative imports, those beside it. A file that cannot be read has no imports. */
export async function sourcesOf(start: string): Promise<Sources> {
  const imports = new Map<string, string>()
  const files = new Set([start])
  const missing = new Set<string>()
  const stamps = new Map<string, string>()
  for (const file of files) {
    stamps.set(file, stampOfFile(file))
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [, name = ''] of text.matchAll(imported)) {
      if (!name.startsWith('.')) {
        if (!imports.has(name)) imports.set(name, file)
        continue
      }
      const path = resolve(dirname(file), name)
      const candidates = pathsOf(path).map((one) => [one, stampOfFile(one)] as const)
      const beside = sourceAt(path)
      if (beside !== undefined) {
        files.add(beside)
        continue
      }
      for (const [one, stamp] of candidates) {
        missing.add(one)
        if (!stamps.has(one)) stamps.set(one, stamp)
      }
    }
  }
  return { files: [...files], missing: [...missing], stamps, imports }
}

/** Changes whenever one of the files is written, added or removed. Those in `stamps` are not looked at. */
export function stampOf(files: readonly string[], stamps?: ReadonlyMap<string, string>): string {
  return files.map((file) => stamps?.get(file) ?? stampOfFile(file)).join('\n')
}

function stampOfFile(file: string): string {
  const info = infoOf(file)
  return info === undefined ? `${file} -` : `${file} ${info.mtimeMs} ${info.size} ${info.ino}`
}

/** Undefined for a file that does not exist, and for a path through a file as if that were a folder. */
function infoOf(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/** `from 'x'`, `import 'x'`, `import('x')`, `require('x')`. A match in a comment does no harm. */
const imported = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"]([^'"\n]+)['"]/g

const endings = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js']

const pathsOf = (path: string): readonly string[] => [
  ...endings.map((ending) => path + ending),
  path.replace(/\.([cm]?)js$/, '.$1ts'),
]

/** The file that a relative import means: as written, with an ending added, or `.ts` for `.js`. */
function sourceAt(path: string): string | undefined {
  return pathsOf(path).find((one) => /\.([cm]?[jt]s|json)$/.test(one) && existsSync(one) && statSync(one).isFile())
}
