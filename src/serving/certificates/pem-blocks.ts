/** The blocks of a PEM text with that label, `CERTIFICATE`, as they stand there. */
export function pemBlocks(pem: string, label: string): readonly string[] {
  return pem.match(new RegExp(`-----BEGIN ${label}-----[^-]*-----END ${label}-----`, 'g')) ?? [];
}
