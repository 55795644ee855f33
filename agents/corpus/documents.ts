/** A small library that the examples search offline: short texts of our own, each with a link to read more. */
export interface Document {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly date: string
  readonly text: string
}

const doc = (id: string, title: string, url: string, date: string, text: string): Document => ({
  id,
  title,
  url,
  date,
  text,
})

export const documents: readonly Document[] = [
  doc(
    'qc-basics',
    'What a qubit is',
    'https://en.wikipedia.org/wiki/Qubit',
    '2024-03-11',
    'A qubit is the unit of quantum information. Where a bit is zero or one, a qubit is described by two amplitudes and gives zero or one when measured. Several qubits can be entangled, so that their measurements are correlated in ways that no ordinary bits can be. Quantum computing uses interference between amplitudes to make right answers likely and wrong ones unlikely.',
  ),
  doc(
    'qc-errors',
    'Quantum error correction',
    'https://en.wikipedia.org/wiki/Quantum_error_correction',
    '2024-12-09',
    'Physical qubits lose their state within micro- to milliseconds. Error correction spreads one logical qubit over many physical ones. The surface code needs a physical error rate below about one percent; below that threshold, making the code larger makes the logical error rate smaller. Experiments in 2024 showed a logical qubit that outlived its best physical qubit, a milestone for fault-tolerant quantum computing.',
  ),
  doc(
    'qc-hardware',
    'Ways to build a quantum computer',
    'https://en.wikipedia.org/wiki/Quantum_computing',
    '2025-01-20',
    'Superconducting circuits are fast and are made like chips, but must be kept near absolute zero. Trapped ions keep their state for seconds and have precise gates, but are slower. Neutral atoms held by light scale to thousands of sites. Photons work at room temperature and suit networks. No platform has won; quantum computing hardware is compared by gate fidelity, connectivity and the number of qubits.',
  ),
  doc(
    'qc-algorithms',
    'What quantum algorithms are good for',
    'https://quantumalgorithmzoo.org/',
    '2023-10-02',
    'Shor’s algorithm factors integers in polynomial time and would break RSA. Grover’s algorithm searches an unsorted list in the square root of its length. Simulation of molecules and materials is the use most researchers expect first. For most everyday computing, quantum computers offer no advantage, and loading large data is a bottleneck.',
  ),
  doc(
    'qc-crypto',
    'Post-quantum cryptography standards',
    'https://csrc.nist.gov/projects/post-quantum-cryptography',
    '2024-08-13',
    'NIST published its first post-quantum standards in August 2024: ML-KEM for key exchange, ML-DSA and SLH-DSA for signatures. They rest on lattices and hashes, which no known quantum algorithm breaks. Migration takes years, so data that must stay secret for decades should move first.',
  ),
  doc(
    'qc-market',
    'Quantum computing in industry',
    'https://www.nature.com/subjects/quantum-information',
    '2025-02-14',
    'Companies in chemistry, finance and logistics run pilot projects on cloud quantum computers. Published advantages so far are on problems chosen for the machine. Roadmaps of large vendors aim at hundreds of logical qubits before 2030. Analysts advise small teams that learn, and caution against buying hardware early.',
  ),
  doc(
    'ai-attention',
    'Attention is all you need',
    'https://arxiv.org/abs/1706.03762',
    '2017-06-12',
    'The paper that introduced the transformer: a neural network built on attention instead of recurrence. It trains in parallel over long sequences and became the base of large language models. One of the most cited AI research papers of the decade.',
  ),
  doc(
    'ai-scaling',
    'Scaling laws for language models',
    'https://arxiv.org/abs/2001.08361',
    '2020-01-23',
    'Loss of a language model falls as a power law of model size, data and compute. Later AI research corrected the balance: for a given budget, smaller models trained on more data are better. Scaling laws guide how laboratories plan training runs.',
  ),
  doc(
    'ai-react',
    'ReAct: reasoning and acting in language models',
    'https://arxiv.org/abs/2210.03629',
    '2022-10-06',
    'Language models that alternate between reasoning in words and calling tools solve tasks that neither does alone. The pattern is the base of most agent frameworks: think, call a tool, read the result, go on. AI research papers on agents build on it.',
  ),
  doc(
    'ai-rag',
    'Retrieval-augmented generation',
    'https://arxiv.org/abs/2005.11401',
    '2020-05-22',
    'A language model that first retrieves passages and then answers from them is more factual, can cite, and can be updated without training. Quality depends on the retriever as much as on the model. The latest AI research papers combine dense and full-text search.',
  ),
  doc(
    'ai-multiagent',
    'When several agents help',
    'https://arxiv.org/abs/2308.08155',
    '2023-08-16',
    'Splitting a task among agents with different roles can improve answers when subtasks are independent, and wastes tokens when they are not. Coordination fails most often because agents do not share what they know; a common log of events makes such failures visible. Latest AI research studies how to evaluate multi-agent systems.',
  ),
  doc(
    'ai-eval',
    'Evaluating language model agents',
    'https://arxiv.org/abs/2407.01502',
    '2024-07-01',
    'Benchmarks for agents should report cost next to accuracy: a simple agent that retries can match a complex one for less. Held-out tasks and repeated runs matter because results vary. AI research papers increasingly publish whole transcripts.',
  ),
  doc(
    'ai-safety',
    'Prompt injection',
    'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
    '2025-01-05',
    'Text that an agent reads can carry instructions. No filter catches all of them. Practical defences limit what an agent may do: least privilege, confirmation by a person for actions that cannot be undone, and treating model output as untrusted when it is rendered.',
  ),
  doc(
    'crm-market',
    'The CRM market',
    'https://en.wikipedia.org/wiki/Customer_relationship_management',
    '2025-03-01',
    'The CRM market is led by Salesforce, with roughly a fifth of revenue, followed by Microsoft Dynamics 365, Oracle, SAP and HubSpot. CRM competitors differ by customer size: Salesforce dominates the enterprise, HubSpot leads among small and medium businesses. Growth comes from automation and AI assistants.',
  ),
  doc(
    'crm-hubspot',
    'HubSpot in brief',
    'https://en.wikipedia.org/wiki/HubSpot',
    '2025-02-10',
    'HubSpot sells marketing, sales and service software to small and medium businesses. Its free CRM tier brings in customers that later buy paid hubs. Competitors name ease of use as its strength and limits in complex permissions as its weakness.',
  ),
  doc(
    'crm-salesforce',
    'Salesforce in brief',
    'https://en.wikipedia.org/wiki/Salesforce',
    '2025-02-12',
    'Salesforce is the largest CRM vendor. Its platform can be extended deeply, and a market of partners has grown around it. Customers name cost and complexity as its weaknesses. Competitors attack from below with simpler products.',
  ),
  doc(
    'crm-pricing',
    'How CRM vendors price',
    'https://www.gartner.com/reviews/market/sales-force-automation-platforms',
    '2025-01-15',
    'Most CRM competitors price per user and month: from about 15 dollars for small teams to 300 and more for enterprise editions. Add-ons for automation and AI are sold separately. Buyers should compare the cost of the edition that has the features they need, not the entry price.',
  ),
  doc(
    'crm-selection',
    'Choosing a CRM',
    'https://www.g2.com/categories/crm',
    '2025-03-20',
    'Teams that choose a CRM well begin with three processes they want to improve, test two products with real data, and ask for references of the same size. Migration and training cost more than licences in the first year.',
  ),
  doc(
    'remote-work',
    'Running a remote team offsite',
    'https://handbook.gitlab.com/handbook/company/culture/all-remote/',
    '2024-09-01',
    'A good offsite has one goal, few sessions and long breaks. Plan the budget per person, book travel six weeks ahead, ask for dietary needs, and write down decisions the same day. Feedback within a week improves the next one.',
  ),
  doc(
    'launch',
    'A product launch checklist',
    'https://en.wikipedia.org/wiki/New_product_development',
    '2024-11-11',
    'Before a launch: positioning in one sentence, a page that says who it is for, pricing, support answers, and a rollback plan. On the day: staged release, somebody watching the metrics, one channel for decisions. Afterwards: a review with numbers after a week and after a month.',
  ),
  doc(
    'event-sourcing',
    'Event sourcing',
    'https://martinfowler.com/eaaDev/EventSourcing.html',
    '2023-05-05',
    'Event sourcing keeps every change as an event in an append-only log and derives state by folding. It gives audit, time travel and replay; it asks for versioned events and care with deletion. Readers keep a cursor, so they can leave and come back.',
  ),
  doc(
    'sse',
    'Server-sent events',
    'https://html.spec.whatwg.org/multipage/server-sent-events.html',
    '2025-01-01',
    'Server-sent events are a stream of text over HTTP. Each message may carry an id; a browser that reconnects sends the last one as Last-Event-ID. Proxies may close idle connections, so servers send comments as heartbeats.',
  ),
  doc(
    'fire-ecology',
    'Fire and western forests',
    'https://www.fs.usda.gov/research/treesearch',
    '2024-06-18',
    'Many western forests burned often and lightly before fire was suppressed. Severe fire leaves soil that repels water, so erosion peaks in the first two winters. Salvage logging, replanting and leaving alone each have costs; the right choice differs by slope and by what is meant to grow back.',
  ),
  doc(
    'solar',
    'The price of solar power',
    'https://ourworldindata.org/cheap-renewables-growth',
    '2024-12-01',
    'The price of solar modules fell by about ninety percent in a decade: each doubling of installed capacity cut it by a fifth. Storage follows a similar curve. Grids now need flexibility more than generation.',
  ),
]
