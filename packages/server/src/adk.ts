export * from './agent/adk/authoring.ts'
