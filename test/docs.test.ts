import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** Links between our own pages and files break silently when a file moves: here they do not. */
const root = fileURLToPath(new URL('../', import.meta.url))
const pages = ['README.md', 'SPEC.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
  .map((name) => root + name)
  .concat(pagesIn(`${root}docs`), pagesIn(`${root}.github`))

describe('the documents', () => {
  test('there are pages', () => expect(pages.length).toBeGreaterThan(15))

  test.each(pages.map((page) => relative(root, page)))('%s links to files that exist', (page) => {
    const text = readFileSync(root + page, 'utf8')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
    const missing = links
      .filter((link) => !/^([a-z]+:|#)/.test(link))
      .filter((link) => !existsSync(resolve(dirname(root + page), link.split('#')[0] ?? '')))
    expect(missing).toEqual([])
  })

  test.each(pages.map((page) => relative(root, page)))('%s names paths that exist', (page) => {
    const text = readFileSync(root + page, 'utf8')
    const paths = [...text.matchAll(/`((?:packages|vectors|agents|test|scripts|examples|bench)\/[\w./-]+)`/g)].flatMap(
      ([, path]) => path ?? [],
    )
    expect(paths.filter((path) => !existsSync(root + path))).toEqual([])
  })
})

function pagesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}/${name}`
    if (statSync(path).isDirectory()) return pagesIn(path)
    return name.endsWith('.md') ? [path] : []
  })
}
