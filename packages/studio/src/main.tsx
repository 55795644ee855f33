import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './ui/tokens.css'
import './ui/base.css'
import { currentRoute } from './app/route.ts'
import { client } from './session/client.ts'

// The session is asked for while the page itself is still loading. The page holds it from its first render on.
const { session } = currentRoute()
const release = session === undefined ? undefined : client.session(session).retain()

const { start } = await import('./app/start.tsx')
start(document.getElementById('root'))
if (release !== undefined) setTimeout(release, 1000)
