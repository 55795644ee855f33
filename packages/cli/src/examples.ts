import { wrapped } from './terminal.ts'

/** The part of a command's help that shows how it is used: each example, with what it does beside it, or above it in a narrow terminal. */
export function helpExamples(...lines: readonly (readonly [command: string, does: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length))
  const columns = process.stdout.columns || 160
  const isWide = lines.every(([, does]) => width + does.length + 4 <= columns)
  const shown = lines.map(([command, does]) =>
    isWide
      ? `  ${command.padEnd(width)}  ${does}`
      : [...wrapped(does, columns - 4).map((line) => `  # ${line}`), `  ${command}`].join('\n'),
  )
  return `\nExamples:\n${shown.join('\n')}`
}
