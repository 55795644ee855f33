// Packs the packages as `npm publish` would, and unpacks them where tests find them: the tests run what ships.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'

/** The packages that are published: folder in `packages` → name. */
export const published = {
  core: '@millrace/core',
  server: '@millrace/server',
  react: '@millrace/react',
  cli: 'millrace',
}

/** A folder with the four packages in its node_modules. Packages of others are found in the node_modules around it. */
export const packedFolder = `${root}.cache/packed`
export const tarballs = `${packedFolder}/tarballs`
const stamp = `${packedFolder}/stamp`

export async function ensurePacked() {
  await ensureBuilt()
  // Reports of test runs are in the same folder, and must not look like something that was built.
  const built = readdirSync(`${root}.cache`).filter((name) => /^built-[a-z]+$/.test(name))
  const manifests = Object.keys(published).map((folder) => `packages/${folder}/package.json`)
  const wanted = [...built.map((name) => `.cache/${name}`), ...manifests]
    .map((file) => readFileSync(root + file, 'utf8'))
    .join('\n')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const next = `${packedFolder}.${process.pid}`
  rmSync(next, { recursive: true, force: true })
  mkdirSync(`${next}/tarballs`, { recursive: true })
  const workspaces = Object.keys(published).flatMap((folder) => ['-w', `packages/${folder}`])
  const packed = JSON.parse(
    output('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', `${next}/tarballs`, ...workspaces]),
  )
  for (const { name, filename } of Array.isArray(packed) ? packed : Object.values(packed)) {
    const target = `${next}/node_modules/${name}`
    mkdirSync(target, { recursive: true })
    output('tar', ['-xzf', `${next}/tarballs/${filename}`, '-C', target, '--strip-components=1'])
    lend(name, target)
  }
  writeFileSync(`${next}/package.json`, '{ "private": true, "type": "module" }\n')
  writeFileSync(`${next}/stamp`, wanted)
  rmSync(packedFolder, { recursive: true, force: true })
  renameSync(next, packedFolder)
}

/** Versions of other packages that npm installed for this package alone. */
function lend(name, target) {
  const [folder] = Object.entries(published).find(([, each]) => each === name) ?? []
  const own = `${root}packages/${folder}/node_modules`
  if (existsSync(own)) symlinkSync(own, `${target}/node_modules`)
}

function output(command, args) {
  const shell = process.platform === 'win32'
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8', shell })
  if (status === 0) return stdout
  throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureInstalled()
  await ensurePacked()
}
