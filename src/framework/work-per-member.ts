/** Cost of signing or placing one member, in node evaluations. The node evaluations that placing it takes are not included. */
export const workPerMember = 40;

/** Cost of a short operation on one member, in node evaluations: undoing its placement, Permit, or its share of a verdict. */
export const workPerShortStep = 10;
