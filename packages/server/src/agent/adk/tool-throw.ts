import { type BaseTool, FunctionTool } from '@google/adk'

/** A tool whose author's function is watched. */
interface WatchedTool {
  readonly tool: BaseTool
  /** What the function threw; undefined when it did not. */
  thrown(): unknown
}

/**
 * ADK throws an error of its own with the message of the author's, and so loses the line. A subclass may have private
 * fields, which a copy would lack: it is left as it is.
 */
export function watchTool(tool: BaseTool): WatchedTool {
  const execute: unknown = Reflect.get(tool, 'execute')
  if (tool.constructor !== FunctionTool || typeof execute !== 'function') return { tool, thrown: () => undefined }
  let thrown: unknown
  const watched: BaseTool = Object.create(tool, {
    execute: {
      value: async (...args: readonly unknown[]) => {
        try {
          return await Reflect.apply(execute, tool, args)
        } catch (error) {
          thrown = error
          throw error
        }
      },
    },
  })
  return { tool: watched, thrown: () => thrown }
}
