/** Why the process of an agent ended, as the sentence that its runs fail with. */
export function faultOfExit(code: number | null, signal: NodeJS.Signals | null, memory: number): string {
  if (signal === 'SIGABRT') {
    return `the agent's process was aborted, most likely because its code needed more than ${memory} MB of memory`
  }
  if (signal === 'SIGKILL')
    return `the system stopped the agent's process, most likely because memory ran out (SIGKILL)`
  if (signal !== null) return `the agent's process was ended by ${signal}`
  return `the agent's code ended its process (exit code ${code})`
}

export function faultOfException(message: string): string {
  return `an exception in the agent's code was not caught, and its process was stopped: ${message}`
}

export function faultOfBlocking(blocked: number): string {
  return `the agent's code blocked its thread for ${blocked / 1000} s and was stopped`
}

export function faultOfMemory(used: number, limit: number): string {
  return `the agent's process used ${used} MB of memory and was stopped: the limit is ${limit} MB`
}
