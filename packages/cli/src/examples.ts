/** The part of a command's help that shows how it is used: each example is a line, with what it does. */
export function helpExamples(...lines: readonly (readonly [command: string, does: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length))
  return `\nExamples:\n${lines.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`).join('\n')}`
}
