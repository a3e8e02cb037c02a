package proxy

import "turngate/guard"

// outcome is what a client was told of a turn.
type outcome string

const (
	outcomeCompleted     outcome = "completed"
	outcomeIncomplete    outcome = "incomplete"
	outcomeFailed        outcome = "failed"
	outcomeRefused       outcome = "refused"
	outcomeClientGone    outcome = "client_gone"
	outcomeTruncated     outcome = "truncated"
	outcomeTimeout       outcome = "timeout"
	outcomeUpstreamError outcome = "upstream_error"
	outcomeLocalError    outcome = "local_error"
)

// upstreamOutcome is what an upstream did, whatever the client was told (S10).
type upstreamOutcome string

const (
	upstreamCompleted  upstreamOutcome = "completed"
	upstreamIncomplete upstreamOutcome = "incomplete"
	upstreamFailed     upstreamOutcome = "failed"
	upstreamTruncated  upstreamOutcome = "truncated"
	upstreamTimedOut   upstreamOutcome = "timeout"
	upstreamHTTPError  upstreamOutcome = "http_error"
	upstreamUnreached  upstreamOutcome = "unreachable"
	upstreamCancelled  upstreamOutcome = "cancelled"
	upstreamNotAsked   upstreamOutcome = ""        // the turn ended before: not counted
	upstreamPending    upstreamOutcome = "pending" // still being read, after a refusal
)

// outcomeOf is what a turn with this terminal event comes to for its client.
func outcomeOf(k guard.Kind) outcome {
	switch k {
	case guard.KindIncomplete:
		return outcomeIncomplete
	case guard.KindFailed:
		return outcomeFailed
	}
	return outcomeCompleted
}

// upstreamOutcomeOf is what a turn with this terminal event comes to upstream.
func upstreamOutcomeOf(k guard.Kind) upstreamOutcome {
	switch k {
	case guard.KindIncomplete:
		return upstreamIncomplete
	case guard.KindFailed:
		return upstreamFailed
	}
	return upstreamCompleted
}
