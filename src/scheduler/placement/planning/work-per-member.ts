/** What it takes to place a member besides the looks at nodes, or to find out what it is like; in looks at a node. */
export const workPerMember = 40;
