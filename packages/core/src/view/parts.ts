export * from '../event/parts.ts'
