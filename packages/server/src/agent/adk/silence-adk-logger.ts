import { setLogger } from '@google/adk'

// ADK logs to stdout, in colour, from its first class on ("experimental", "deprecated", "Sending out request"). A library
// does not print. Imported before anything that makes an agent.
setLogger(null)
