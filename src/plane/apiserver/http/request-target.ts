/** The resource that a path addresses. */
export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Undefined for cluster scope and for all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const namespaceSubresources = new Set(['status', 'finalize']);

/** Parses the decoded segments of `/api/v1/…` or `/apis/GROUP/VERSION/…`. Returns undefined for any other path. */
export function parseResourceTarget(segments: readonly string[]): ResourceTarget | undefined {
  let rest: readonly string[];
  let group: string;
  let version: string | undefined;
  if (segments[0] === 'api') {
    group = '';
    version = segments[1];
    rest = segments.slice(2);
  } else if (segments[0] === 'apis') {
    group = segments[1] ?? '';
    version = segments[2];
    rest = segments.slice(3);
  } else {
    return undefined;
  }
  if (version === undefined || rest.length === 0) return undefined;
  const scoped =
    rest[0] === 'namespaces' && rest.length >= 3 && !(rest.length === 3 && namespaceSubresources.has(rest[2]!));
  const namespace = scoped ? rest[1] : undefined;
  const [plural, name, subresource, ...more] = scoped ? rest.slice(2) : rest;
  if (plural === undefined || more.length > 0) return undefined;
  return { group, version, plural, namespace, name, subresource };
}
