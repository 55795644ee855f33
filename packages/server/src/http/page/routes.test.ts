import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryLog } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMillrace, type Millrace } from '../../millrace.ts'

describe('the page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-page-'))
  let served: Millrace
  beforeAll(async () => {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<!doctype html><html><head><title>Millrace</title></head></html>')
    writeFileSync(join(folder, 'assets', 'index-1a2b.js'), 'export {}')
    served = await createMillrace({
      log: memoryLog(Date.now),
      agents: { agents: new Map() },
      now: Date.now,
      newId: () => 'id',
      owner: 'test',
      version: 'test',
      page: folder,
      basePath: '/mill',
      access: { tokens: new Map([['a-long-token', 'ada']]) },
    })
  })
  afterAll(async () => {
    await served.close(0)
    rmSync(folder, { recursive: true })
  })
  const get = (url: string) => served.app.inject({ url, headers: { host: 'localhost' } })

  test.each([
    ['/', './'],
    ['/mill/', './'],
    ['/s/a-session', '../'],
    ['/mill/s/a-session', '../'],
  ])('%s has the base %s, needs no token and is revalidated on every load', async (url, base) => {
    const answer = await get(url)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('no-cache')
    expect(answer.body).toContain(`<head><base href="${base}">`)
  })

  test('the base path without a slash redirects to the one with it, because relative links would lead outside', async () => {
    const answer = await get('/mill')
    expect([answer.statusCode, answer.headers.location]).toEqual([308, '/mill/'])
  })

  test('its files are cached for good, and a missing file is a problem, not a page', async () => {
    const file = await get('/mill/assets/index-1a2b.js')
    expect(file.statusCode).toBe(200)
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const missing = await get('/assets/none.js')
    expect(missing.statusCode).toBe(404)
    expect(missing.headers['content-type']).toContain('application/problem+json')
  })

  test.each([
    ['/nothing', './'],
    ['/mill/nothing/here', '../'],
  ])('a browser that is led to %s gets the page with status 404, a program a problem', async (url, base) => {
    const visit = await served.app.inject({ url, headers: { host: 'localhost', accept: 'text/html,*/*' } })
    expect(visit.statusCode).toBe(404)
    expect(visit.body).toContain(`<head><base href="${base}">`)
    const headers = { host: 'localhost', authorization: 'Bearer a-long-token' }
    const asked = await served.app.inject({ url, headers })
    expect([asked.statusCode, asked.headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
  })

  test('may load and call nothing but its own origin', async () => {
    const policy = String((await get('/')).headers['content-security-policy'])
    for (const rule of [
      "default-src 'self'",
      "script-src 'self'",
      "connect-src 'self'",
      "object-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'self'",
    ])
      expect(policy.split(';')).toContain(rule)
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:/)
  })
})
