/** What it costs to sign or place one member, in looks at a node. The looks at nodes that placing it takes come on top. */
export const workPerMember = 40;
