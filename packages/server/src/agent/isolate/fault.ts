/** Why the process of an agent ended, as the sentence that its runs fail with. */
export function faultOfExit(agent: string, code: number | null, signal: NodeJS.Signals | null, memory: number): string {
  if (signal === 'SIGABRT')
    return `the process of the agent ${agent} was aborted, most likely because its code needed more than ${memory} MB of memory (--agent-memory)`
  if (signal === 'SIGKILL')
    return `the system stopped the process of the agent ${agent}, most likely because memory ran out (SIGKILL)`
  if (signal !== null) return `the process of the agent ${agent} was ended by ${signal}`
  return `the code of the agent ${agent} ended its process (exit code ${code})`
}

export function faultOfStart(agent: string, message: string): string {
  return `the process of the agent ${agent} could not be started: ${message}`
}

export function faultOfException(agent: string, message: string): string {
  return `an exception in the code of the agent ${agent} was not caught, and its process was stopped: ${message}`
}

export function faultOfBlocking(agent: string, blocked: number): string {
  return `the code of the agent ${agent} blocked its thread for ${blocked / 1000} s and was stopped (--agent-silence)`
}

export function faultOfMemory(agent: string, used: number, limit: number): string {
  return `the process of the agent ${agent} used ${used} MB of memory and was stopped: the limit is ${limit} MB (--agent-memory)`
}
