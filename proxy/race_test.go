//go:build race

package proxy

const raceDetector = true
