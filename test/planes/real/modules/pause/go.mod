module tutti.test/planes/pause

go 1.26.0
