#!/usr/bin/env node
import { serve } from './serve.ts'

/** Runs a command; resolves with the exit code when it is over. */
export async function main(args: readonly string[]): Promise<number> {
  return serve(args)
}
