import { readdirSync, readFileSync } from 'node:fs'
import {
  type DialectVector,
  type DialectVectorFile,
  dialectVector,
  type ViewVector,
  type ViewVectorFile,
  viewVector,
} from '@millrace/core/testing'

/** The conformance cases of a dialect: `vectors/<dialect>/*.json`. */
export function loadVectors(dialect: string): readonly DialectVector[] {
  return filesIn<DialectVectorFile>(dialect).map(([name, file]) => dialectVector(name, file))
}

/** The conformance cases of a view: `vectors/views/<view>/*.json`. `from` borrows the events of a dialect's vector. */
export function loadViewVectors(view: string): readonly ViewVector[] {
  return filesIn<ViewVectorFile & { readonly from?: string }>(`views/${view}`).map(([name, file]) => {
    const { from, ...own } = file
    return viewVector(name, from === undefined ? own : { ...own, events: vectorNamed(from).drafts })
  })
}

/** The vector `adk/recovery`, and so on. */
function vectorNamed(path: string): DialectVector {
  const [dialect = '', name = ''] = path.split('/')
  const vector = loadVectors(dialect).find((each) => each.name === name)
  if (vector === undefined) throw new Error(`there is no vectors/${path}.json: correct the name after "from"`)
  return vector
}

function filesIn<T>(folder: string): readonly (readonly [name: string, file: T])[] {
  const url = new URL(`../../vectors/${folder}/`, import.meta.url)
  return readdirSync(url)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.replace('.json', ''), JSON.parse(readFileSync(new URL(file, url), 'utf8')) as T])
}
