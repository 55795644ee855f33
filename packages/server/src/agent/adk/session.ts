import {
  type AppendEventRequest,
  BaseSessionService,
  type CreateSessionRequest,
  createSession,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk'

/**
 * ADK's session service for one run: the session as the log has it, and what the run adds. Only the log is durable, so
 * this writes nothing. ADK's own services copy the whole session for each run, reverse events of one millisecond (the
 * database service), and keep the sessions that AgentTool makes.
 */
export class RunSessions extends BaseSessionService {
  readonly #session: Session
  /** Sessions that ADK's AgentTool makes for its agent, when ADK itself runs the tool. */
  readonly #made = new Map<string, Session>()
  /** Whether to drop the user message that ADK adds at the start: a resumed run has it already. */
  #skip: boolean
  constructor(session: Session, resumed: boolean) {
    super()
    this.#session = session
    this.#skip = resumed
  }

  override async appendEvent(request: AppendEventRequest): Promise<Event> {
    if (!this.#skip || request.event.author !== 'user') return super.appendEvent(request)
    this.#skip = false
    return request.event
  }

  override async createSession({ appName, userId, state = {} }: CreateSessionRequest): Promise<Session> {
    // Not the id that the caller gives: a second call of the same agent would find the first one's history (adk-js#294).
    const id = `${this.#session.id}/${appName}/${this.#made.size + 1}`
    const session = createSession({ id, appName, userId, state: { ...state }, events: [] })
    this.#made.set(id, session)
    return session
  }

  override async getSession({ appName, sessionId }: GetSessionRequest): Promise<Session | undefined> {
    const { id, appName: own } = this.#session
    return sessionId === id && appName === own ? this.#session : this.#made.get(sessionId)
  }

  override async listSessions(): Promise<ListSessionsResponse> {
    return { sessions: [this.#session], page: 1, limit: 1, totalItems: 1, totalPages: 1 }
  }

  override async deleteSession({ sessionId }: DeleteSessionRequest): Promise<void> {
    this.#made.delete(sessionId)
  }
}
