import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './ui/tokens.css'
import './ui/base.css'
import { currentRoute } from './app/route.ts'
import { client } from './session/client.ts'

// The session is requested while the page itself is still loading. From its first render on, the page retains it itself.
const { session } = currentRoute()
const release = session === undefined ? undefined : client.session(session).retain()

const { start } = await import('./app/start.tsx')
start(document.getElementById('root'))
if (release !== undefined) setTimeout(release, 1000)
