import { invalidValue } from '../schema/field-error.ts';
import type { FieldError } from '../schema/field-error.ts';

const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedNamePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Returns why the text is not a DNS label (RFC 1123), or undefined if it is valid. */
export function dnsLabelProblem(text: string): string | undefined {
  if (text.length > 63) return 'must be no more than 63 characters';
  if (labelPattern.test(text)) return undefined;
  if (subdomainPattern.test(text)) return 'must not contain dots';
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** Returns why the text is not a DNS subdomain (RFC 1123), or undefined if it is valid. */
export function dnsSubdomainProblem(text: string): string | undefined {
  if (text.length > 253) return 'must be no more than 253 characters';
  if (subdomainPattern.test(text)) return undefined;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

/** Returns why the text is not a valid key of a label, annotation, taint or finalizer (`[prefix/]name`), or undefined if it is valid. */
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

/** Returns the causes for an invalid qualified name at a field. */
export function qualifiedNameCauses(field: string, text: string): FieldError[] {
  const problem = text === '' ? 'name part must be non-empty' : qualifiedNameProblem(text);
  return problem === undefined ? [] : [invalidValue(field, text, problem)];
}

/** Returns why the text is not a valid label value, or undefined if it is valid. */
export function labelValueProblem(text: string): string | undefined {
  if (text.length > 63) return 'must be no more than 63 characters';
  if (labelValuePattern.test(text)) return undefined;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}
