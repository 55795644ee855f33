import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/** Made for a sandboxed function host: these two would hide real bugs (crash isolation, CORS) in a test. */
const unwanted = new Set(['--single-process', '--disable-web-security', '--no-zygote'])

/** Software GL inside the browser process: on a busy machine a screenshot took 30 s with it and one without. */
const softwareGl = /^--(use-gl|use-angle|in-process-gpu|ignore-gpu-blocklist|enable-unsafe-swiftshader)/

/** A real Chromium out of the registry: no system package, no download of its own. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: [
      ...sparticuz.args.filter((arg) => !unwanted.has(arg) && !softwareGl.test(arg)),
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-quic',
    ],
    headless: true,
  })
}
