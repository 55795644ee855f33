export * from './agent/langgraph/authoring.ts'
