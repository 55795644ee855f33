import { built, oneProcess, type Served, serveBuilt } from '../../kit/built-server.ts'

/** A server for the authors' agents of a folder. They are asked more often in a minute than one user usually may. */
export async function serveAuthors(agents: string, data: string, env: Record<string, string> = {}): Promise<Served> {
  await built()
  const place = ['--data-dir', data, '--agents', agents]
  return serveBuilt(['serve', '--port', '0', ...place, ...oneProcess, '--limit', 'starts=1000'], env)
}
