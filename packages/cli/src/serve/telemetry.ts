import { ROOT_CONTEXT, type Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { endpointOf } from './settings.ts'

/**
 * Sends traces to the OTLP endpoint that OpenTelemetry's own variables name. The provider is private, never the global
 * one, because ADK would put prompts into the spans of a global tracer.
 */
export function openTelemetry(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): { tracer: Tracer; root: typeof ROOT_CONTEXT; close(): Promise<void> } {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env.OTEL_SERVICE_NAME ?? 'millrace',
      'service.version': version,
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: endpointOf(env) }))],
  })
  return { tracer: provider.getTracer('millrace', version), root: ROOT_CONTEXT, close: () => provider.shutdown() }
}
