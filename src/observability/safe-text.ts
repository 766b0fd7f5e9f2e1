/** What may be secret in a text, and what stays of it. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // The login in a URL, however it is written there.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"'<>]*@/gi, '$1[redacted]@'],
  [/\b(Bearer\s+)[\w.~+/-]{8,}=*/gi, '$1[redacted]'],
  // Not "basic authentication".
  [/\b(Basic\s+)(?=\S*[A-Z\d=])[\w+/-]{6,}=*/g, '$1[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, '[redacted]'],
  [/([?&](?:access_token|id_token|token|password|secret|api_key)=)[^&\s"']+/gi, '$1[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, '[redacted]'],
];

/** What a terminal or a viewer of logs would act upon: C0, DEL, C1, ends of lines, and what turns the direction of text. */
// eslint-disable-next-line no-control-regex -- to find them is the purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The text as it may be shown to people who read logs or a terminal: without logins in URLs, tokens and private keys, and with control
 * characters written as `\u001b`. The one place for it: every line of a log and every error of a command passes through.
 */
export function safeText(text: string): string {
  return withoutSecrets(text).replace(controls, escaped);
}

/** As `safeText`, for text in lines, whose ends are meant. */
export function safeLines(text: string): string {
  return withoutSecrets(text).replace(controls, (character) => (character === '\n' ? '\n' : escaped(character)));
}

function withoutSecrets(text: string): string {
  return secrets.reduce((shown, [secret, rest]) => shown.replace(secret, rest), text);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
