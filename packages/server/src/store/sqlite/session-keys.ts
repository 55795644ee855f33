import type { WriteConnection } from './connection.ts'

/** What `sessionKey` puts between the user and the id. */
const mark = 'char(31)'

/**
 * Keys the sessions of the file as the server needs them: by user and id where users have tokens, by id alone where one
 * person owns everything. In the second case a session whose id is taken keeps its key; in the first, a session whose
 * user has another of that id gets a number behind its id. Nothing else changes, and each step can be undone.
 * Deleted sessions that can be brought back (`asideKey`) always keep their keys: their ids are not theirs.
 */
export async function keySessions(writer: WriteConnection, owned: boolean): Promise<void> {
  await writer.exec(owned ? byUser : byId)
}

const byUser = `
  UPDATE OR IGNORE session SET name = user || ${mark} || name WHERE instr(name, ${mark}) = 0;
  UPDATE session SET name = user || ${mark} || name || '~' || id WHERE instr(name, ${mark}) = 0;`

const byId = `
  UPDATE OR IGNORE session SET name = substr(name, length(user) + 2)
  WHERE substr(name, 1, length(user) + 1) = user || ${mark} AND substr(user, 1, 1) <> char(30);`
