import { type Context, FunctionTool } from '@google/adk'

type Texts = Readonly<Record<string, string>>

/** A tool whose arguments are texts. Its schema is plain JSON: the zod of this folder is not the one that ADK has. */
export function textTool(
  name: string,
  description: string,
  fields: readonly string[],
  execute: (args: Texts, context: Context | undefined) => unknown,
): FunctionTool {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'STRING' }]))
  const parameters = { type: 'OBJECT', properties, required: [...fields] }
  return new FunctionTool({ name, description, parameters: parameters as never, execute: execute as never })
}
