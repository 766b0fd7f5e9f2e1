/** Returns the blocks of a PEM text with this label, such as `CERTIFICATE`, unchanged. */
export function pemBlocks(pem: string, label: string): readonly string[] {
  return pem.match(new RegExp(`-----BEGIN ${label}-----[^-]*-----END ${label}-----`, 'g')) ?? [];
}
