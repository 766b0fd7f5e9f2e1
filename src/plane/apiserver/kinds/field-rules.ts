import type { StatusCause } from '../http/api-error.ts';
import type { JsonValue } from '../json.ts';

const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedNamePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** What is wrong with a DNS label (RFC 1123); undefined when nothing is. */
export function dnsLabelProblem(text: string): string | undefined {
  if (text.includes('.')) return 'must not contain dots';
  if (text.length > 63) return 'must be no more than 63 characters';
  if (labelPattern.test(text)) return undefined;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name', or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** What is wrong with a segment of a path, such as the name of a role; undefined when nothing is. */
export function pathSegmentProblem(text: string): string | undefined {
  if (text === '.' || text === '..') return `may not be '${text}'`;
  const found = ['/', '%'].find((character) => text.includes(character));
  return found === undefined ? undefined : `may not contain '${found}'`;
}

/** What is wrong with a DNS subdomain (RFC 1123); undefined when nothing is. */
export function dnsSubdomainProblem(text: string): string | undefined {
  if (text.length > 253) return 'must be no more than 253 characters';
  if (subdomainPattern.test(text)) return undefined;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

/** What is wrong with the name of a container's port. */
export function portNameProblems(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** What is wrong with a key of labels, annotations, taints or finalizers: `[prefix/]name`. */
export function qualifiedNameProblem(text: string): string | undefined {
  const slash = text.indexOf('/');
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  const name = text.slice(slash + 1);
  if (prefix !== undefined) {
    if (prefix.length > 253) return 'prefix part must be no more than 253 characters';
    if (!subdomainPattern.test(prefix)) return 'prefix part must be a lowercase RFC 1123 subdomain';
  }
  if (name.length > 63) return 'name part must be no more than 63 characters';
  if (qualifiedNamePattern.test(name)) return undefined;
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
}

/** What is wrong with a qualified name at a field. */
export function qualifiedNameCauses(field: string, text: string): StatusCause[] {
  const problem = qualifiedNameProblem(text);
  if (problem === undefined) return [];
  return [
    ...(text === '' ? [invalidValue(field, text, 'name part must be non-empty')] : []),
    invalidValue(field, text, problem),
  ];
}

/** What is wrong with the value of a label; undefined when nothing is. */
export function labelValueProblem(text: string): string | undefined {
  if (text.length > 63) return 'must be no more than 63 characters';
  if (labelValuePattern.test(text)) return undefined;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

export function required(field: string, detail = ''): StatusCause {
  return {
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

export function invalidValue(field: string, value: JsonValue, detail: string): StatusCause {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

export function notSupported(field: string, value: JsonValue, supported: readonly string[]): StatusCause {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
  };
}

export function fieldForbidden(field: string, detail: string): StatusCause {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

export function duplicateValue(field: string, value: JsonValue): StatusCause {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}` };
}
