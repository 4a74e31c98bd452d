! A coarray program as a compiler would turn it into calls: see coarray.h. It does less than
! images.c; here it is to be seen that Fortran's arguments arrive.
program images
  implicit none
  integer, parameter :: rounds = 20
  integer :: me, count, next, previous
  integer, external :: caf_this_image, caf_num_images
  integer(8) :: x, event

  interface
    ! operations are functions of two references
    subroutine caf_co_reduce(values, n, operation)
      integer(8), intent(inout) :: values
      integer(8), intent(in) :: n
      integer(8), external :: operation
    end subroutine
  end interface

  call caf_init()
  call neighbours()
  call caf_allocate(x, 8_8)
  call caf_allocate(event, 8_8)
  call try_put_get()
  call try_atomics()
  call try_sync_images()
  call try_collectives()
  call try_teams()
  if (me == 1) print '(a,i0)', 'done: ', count
  flush (6)
  call caf_stop(0)

contains

  subroutine neighbours()
    me = caf_this_image()
    count = caf_num_images()
    next = mod(me, count) + 1
    previous = mod(me + count - 2, count) + 1
  end subroutine

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (.not. holds) call caf_error_stop(what)
  end subroutine

  subroutine try_put_get()
    integer(8) :: value

    value = me * me
    call caf_put(x, 0_8, next, value, 8_8)
    call caf_sync_all()
    call caf_get(x, 0_8, me, value, 8_8)
    call expect(value == previous * previous, 'put')
    call caf_get(x, 0_8, next, value, 8_8)
    call expect(value == me * me, 'get')
    call caf_sync_all()
  end subroutine

  subroutine try_atomics()
    integer(8) :: sum, drawn, total, round

    sum = 0
    total = rounds * count
    call caf_atomic_define(event, 0_8, me, 0_8)
    call caf_sync_all()
    do round = 1, rounds
      call caf_atomic_fetch_add(event, 0_8, 1, 1_8, drawn)
      sum = sum + drawn
    end do
    call caf_co_sum(sum, 1_8)
    call expect(sum == total * (total - 1) / 2, 'fetch and add')
    call caf_sync_all()
    call caf_atomic_define(event, 0_8, me, 0_8)
    call caf_sync_all()
    do round = 1, rounds
      call caf_event_post(event, 0_8, next)
      call caf_event_wait(event, 0_8, 1_8)
    end do
    call caf_sync_all()
  end subroutine

  subroutine try_sync_images()
    integer :: both(2)
    integer(8) :: value, round

    both = [previous, next]
    do round = 1, rounds
      value = round * me
      call caf_put(x, 0_8, next, value, 8_8)
      call caf_sync_images(merge(1, 2, previous == next), both)
      call caf_get(x, 0_8, me, value, 8_8)
      call expect(value == round * previous, 'sync images')
      call caf_sync_images(merge(1, 2, previous == next), both)
    end do
  end subroutine

  subroutine try_collectives()
    integer(8) :: value
    real(8) :: highest

    value = me
    call caf_co_sum(value, 1_8)
    call expect(value == count * (count + 1) / 2, 'co_sum')
    highest = me / 2d0
    call caf_co_max(highest, 1_8)
    call expect(abs(highest - count / 2d0) < 1d-9, 'co_max')
    value = 7 * me
    call caf_co_broadcast(value, 8_8, count)
    call expect(value == 7 * count, 'co_broadcast')
    value = 12 * (me + 1)
    call caf_co_reduce(value, 1_8, divisor)
    call expect(value == merge(24_8, 12_8, count == 1), 'co_reduce')
  end subroutine

  recursive integer(8) function divisor(left, right) result(answer)
    integer(8), intent(in) :: left, right

    answer = left
    if (right /= 0) answer = divisor(right, mod(left, right))
  end function

  subroutine try_teams()
    integer(8) :: team
    integer :: old_me

    old_me = me
    call caf_form_team(mod(me, 2) + 1, team)
    call caf_change_team(team)
    call neighbours()
    call expect(me == (old_me + 1) / 2, 'this_image in a team')
    call try_collectives()
    call caf_end_team()
    call neighbours()
    call expect(me == old_me, 'end team')
  end subroutine
end program
