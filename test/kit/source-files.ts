import { readdirSync } from 'node:fs'

/** Every file below a folder, except what is installed or built. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return []
    const path = `${folder.replace(/\/$/, '')}/${entry.name}`
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}

/** The TypeScript sources below a folder, without tests. */
export function sourcesIn(folder: string): readonly string[] {
  return filesIn(folder).filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.config\.ts$/.test(file))
}
