import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'
import { finished } from '../kit/finished-folder.ts'

/** Made for a sandboxed function host: these two would hide real bugs (crash isolation, CORS) in a test. */
const unwanted = new Set(['--single-process', '--disable-web-security', '--no-zygote'])

/** Software GL inside the browser process: on a busy machine a screenshot took 30 s with it and one without. */
const softwareGl = /^--(use-gl|use-angle|in-process-gpu|ignore-gpu-blocklist|enable-unsafe-swiftshader)/

let shared: Promise<Browser> | undefined

/**
 * A real Chromium out of the registry: no system package, no download of its own. All files of a worker have the same
 * one, which ends with the worker: to close it is to close what the file has opened in it.
 */
export function launchChromium(): Promise<Browser> {
  shared ??= launch([]).then((browser) => {
    browser.close = async () => {
      await Promise.all(browser.contexts().map((context) => context.close()))
    }
    // One that crashed fails the file that uses it, and not every file after that.
    browser.once('disconnected', () => {
      shared = undefined
    })
    return browser
  })
  return shared
}

/** One for its caller alone, which has to close it; with further flags. */
export function launchChromiumWith(...flags: readonly string[]): Promise<Browser> {
  return launch(flags)
}

async function launch(more: readonly string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: await unpackedChromium(),
    args: [
      ...sparticuz.args.filter((arg) => !unwanted.has(arg) && !softwareGl.test(arg)),
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-quic',
      ...more,
    ],
    headless: true,
    // A signal ends the worker as if there were no browser, and the browser ends when its pipe to the worker is closed.
    handleSIGTERM: false,
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(hang)
    return context
  }
  return browser
}

/** Milliseconds after which a wait hangs. A busy machine draws a page in seconds. */
const hang = 120_000

const cache = fileURLToPath(new URL('../../.cache/', import.meta.url))

/**
 * The package unpacks into the folder for temporary files, for its user alone, and takes whatever is there already.
 * So that two users can test on one machine, it unpacks below this checkout.
 */
async function unpackedChromium(): Promise<string> {
  const folder = join(cache, 'chromium')
  if (!existsSync(folder)) {
    const unpacking = join(cache, `chromium-${process.pid}`)
    mkdirSync(unpacking, { recursive: true })
    const before = process.env.TMPDIR
    process.env.TMPDIR = unpacking
    try {
      await sparticuz.executablePath()
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    finished(unpacking, folder)
  }
  return join(folder, 'chromium')
}
