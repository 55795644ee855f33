/** What a person must know when a file cannot be used; undefined for an error that is not about a file. */
export function errnoSentence(error: unknown): string | undefined {
  const { code = '', path } = error as NodeJS.ErrnoException
  if (typeof path !== 'string') return undefined
  const sentences: Readonly<Record<string, string>> = {
    ENOENT: `there is no ${path}`,
    EACCES: `this user may not use ${path}`,
    EPERM: `this user may not use ${path}`,
    EROFS: `${path} cannot be written, because its disk is read-only`,
    ENOSPC: `${path} cannot be written, because the disk is full`,
    EISDIR: `${path} is a folder; name a file`,
    ENOTDIR: `${path} cannot be used, because a part of that path is a file`,
    EEXIST: `${path} is a file where a folder must be`,
  }
  return Object.hasOwn(sentences, code) ? sentences[code] : undefined
}
