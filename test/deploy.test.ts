import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseYaml } from '@redocly/openapi-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSettings, type Settings, serveHelp } from '../packages/cli/src/serve/settings.ts'
import { envOf, stagesIn } from './kit/dockerfile.ts'
import { testServer } from './kit/server.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const textOf = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
const tokens = { MILLRACE_TOKENS: `ann=${'t'.repeat(32)}` }

type Server = Awaited<ReturnType<typeof testServer>>
let server: Server
beforeAll(async () => {
  server = await testServer()
})
afterAll(() => server.close(0))

/** What the flags and variables of a deploy file come to; a wrong flag is a sentence instead. Secrets are not there yet. */
function settingsOf(args: readonly string[], env: Readonly<Record<string, string>>): Settings {
  const { MILLRACE_TOKEN_FILE: _file, ...rest } = env
  for (const name of Object.keys(env))
    expect(serveHelp.includes(name) || name === 'NODE_ENV', `${name} is no variable of the server`).toBe(true)
  const read = readSettings(args.slice(1), { ...rest, ...tokens })
  if ('message' in read) throw new Error(read.message)
  expect(args[0]).toBe('serve')
  return read
}

async function answers(path: string, host: string): Promise<number> {
  return (await server.app.inject({ url: path, headers: { host } })).statusCode
}

const stages = stagesIn(textOf('Dockerfile'))
const image = stages.at(-1) ?? { name: '', image: '', steps: [] }
const last = (name: string) => image.steps.findLast((step) => step.name === name)

test('the Dockerfile copies what is there, from stages before, and pins its images', () => {
  expect(stages.length).toBeGreaterThan(1)
  for (const [i, stage] of stages.entries()) {
    expect(stage.image).toMatch(/^[\w-]+:[\w.-]+$/) // a version, and no host
    expect(stage.image).not.toMatch(/latest/)
    for (const { name, rest, options } of stage.steps) {
      if (name !== 'COPY') continue
      if (options.from !== undefined) expect(stages.slice(0, i).map((each) => each.name)).toContain(options.from)
      else for (const source of rest.split(/\s+/).slice(0, -1)) expect(existsSync(root + source), source).toBe(true)
    }
  }
  for (const name of ['node_modules', 'dist', '.git']) expect(textOf('.dockerignore')).toContain(name)
})

test('the image runs without root and without a shell, and its settings are valid', () => {
  expect(last('USER')?.rest).toBe('node')
  expect(image.steps.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
    image.steps.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY'),
  )
  for (const name of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) expect(last(name)?.list, name).toBeDefined()
  const settings = settingsOf(last('CMD')?.list ?? [], envOf(image))
  expect(settings).toMatchObject({
    host: '0.0.0.0',
    port: Number(last('EXPOSE')?.rest),
    store: { folder: last('VOLUME')?.rest },
  })
  // Without tokens the image refuses to listen for everyone.
  expect(readSettings([], envOf(image))).toMatchObject({ code: 2 })
})

interface Service {
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly secrets?: readonly string[]
  readonly image?: string
}

test('the replicas of compose.yaml have valid settings, and the proxy knows them and buffers nothing', async () => {
  const compose = parseYaml(textOf('compose.yaml').replaceAll(/\$\{\w+(:\?[^}]*)?\}/g, 'secret')) as {
    readonly services: Readonly<Record<string, Service>>
    readonly secrets: Readonly<Record<string, unknown>>
  }
  const replicas = Object.entries(compose.services).filter(([, { command }]) => command?.[0] === 'serve')
  expect(replicas.length).toBeGreaterThanOrEqual(2)
  for (const [, { command = [], environment = {}, secrets = [], stop_grace_period: stop }] of replicas) {
    const settings = settingsOf(command, { ...envOf(image), ...environment })
    expect(settings.store.kind).toBe('postgres')
    expect(settings.grace).toBeLessThan(Number.parseInt(stop ?? '', 10) * 1000)
    for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret)
    expect(environment.MILLRACE_TOKEN_FILE).toBe(`/run/secrets/${secrets[0]}`)
  }
  const proxy = textOf('deploy/nginx.conf')
  const upstream = [...proxy.matchAll(/^\s*server (\S+):(\d+) /gm)].map(([, name, port]) => [name, Number(port)])
  expect(upstream).toEqual(replicas.map(([name]) => [name, Number(envOf(image).PORT)]))
  expect(proxy).toMatch(/proxy_buffering off;/)
  expect(proxy).not.toMatch(/^\s*(ip_hash|sticky|hash)\b/m)
})

/** A value inside a parsed document: `spec.containers.0.image`. */
function at(document: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
}
const listAt = (document: unknown, path: string): readonly unknown[] => at(document, path) as readonly unknown[]
const named = (list: readonly unknown[], name: string): unknown => list.find((each) => at(each, 'name') === name)

test('the Kubernetes example has valid settings, probes that are answered, and time to stop', async () => {
  const documents = textOf('deploy/kubernetes.yaml')
    .split(/^---$/m)
    .map((text) => parseYaml(text))
  const of = (kind: string): unknown => documents.find((document) => at(document, 'kind') === kind)
  const deployment = of('Deployment')
  const pod = at(deployment, 'spec.template.spec')
  const container = at(pod, 'containers.0')
  const variables = listAt(container, 'env')
  const env = Object.fromEntries(
    variables.map((each) => [String(at(each, 'name')), String(at(each, 'value') ?? 'postgresql://db/millrace')]),
  )
  const settings = settingsOf(listAt(container, 'args').map(String), { ...envOf(image), ...env })
  expect(settings.store.kind).toBe('postgres')
  const wait = Number(/(\d+)\)$/.exec(String(listAt(container, 'lifecycle.preStop.exec.command').at(-1)))?.[1])
  expect(wait + settings.grace).toBeLessThan(Number(at(pod, 'terminationGracePeriodSeconds')) * 1000)
  for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const probe = at(container, `${kind}.httpGet`)
    expect(await answers(String(at(probe, 'path')), String(at(probe, 'httpHeaders.0.value'))), kind).toBe(200)
  }
  expect(at(container, 'readinessProbe.httpGet.path')).toBe('/ready')
  expect(await answers('/health', '10.0.0.7')).toBe(403) // why the probes name a Host
  expect(at(container, 'ports.0.containerPort')).toBe(settings.port)
  expect(at(of('Service'), 'spec.ports.0.targetPort')).toBe(at(container, 'ports.0.name'))
  const labels = at(deployment, 'spec.template.metadata.labels')
  expect(at(deployment, 'spec.selector.matchLabels')).toEqual(labels)
  expect(at(of('Service'), 'spec')).toMatchObject({ selector: labels, sessionAffinity: 'None' })
  expect(at(of('PodDisruptionBudget'), 'spec.selector.matchLabels')).toEqual(labels)
  expect(at(deployment, 'spec.strategy.rollingUpdate.maxUnavailable')).toBe(0)
  const secret = at(named(listAt(pod, 'volumes'), 'secrets'), 'secret')
  expect(at(named(variables, 'DATABASE_URL'), 'valueFrom.secretKeyRef.name')).toBe(at(secret, 'secretName'))
  const mounts = listAt(container, 'volumeMounts')
  expect(env.MILLRACE_TOKEN_FILE).toBe(`${at(named(mounts, 'secrets'), 'mountPath')}/${at(secret, 'items.0.path')}`)
  expect(mounts.map((each) => at(each, 'mountPath'))).toContain(envOf(image).DATA_DIR)
})
