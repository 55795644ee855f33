import { setLogger } from '@google/adk'

// ADK logs to stdout, in colour, as soon as one of its classes is used ("experimental", "deprecated", "Sending out
// request"), but a library must not print. Import this file before anything that makes an agent.
setLogger(null)
